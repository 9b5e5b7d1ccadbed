import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from './random.ts';
import {
  EMPTY,
  actorsOf,
  add,
  askedPolicy,
  nextOf,
  remove,
  scriptedPolicy,
  seededPolicy,
  type Schedule,
} from './schedule.ts';

const ids = ({ events }: Schedule): number[] => events.map((event) => event.id);

test('events are sorted by time, then key, then order of scheduling', () => {
  let schedule = EMPTY;
  for (const [at, key] of [
    [20, 0.5],
    [10, 0.9],
    [10, 0.1],
    [10, 0.1],
  ] as const) {
    schedule = add(schedule, at, key, 0);
  }
  assert.deepEqual(ids(schedule), [2, 3, 1, 0]);
});

test('adding and removing leave the old schedule as it was', () => {
  const one = add(EMPTY, 1, 0, 0);
  const two = add(one, 0, 0, 1);
  assert.deepEqual([ids(EMPTY), ids(one), ids(two), ids(remove(two, 0))], [[], [0], [1, 0], [1]]);
  assert.deepEqual(ids(remove(two, 99)), [1, 0]);
});

test('random schedules stay sorted and lose nothing', () => {
  const random = seededRandom(5);
  let schedule = EMPTY;
  const alive = new Set<number>();
  for (let step = 0; step < 2000; step++) {
    if (random() < 0.6) {
      alive.add(schedule.nextId);
      schedule = add(schedule, Math.floor(random() * 50), Math.floor(random() * 3), 0);
    } else {
      const [victim] = [...alive].slice(Math.floor(random() * alive.size));
      if (victim === undefined) continue;
      alive.delete(victim);
      schedule = remove(schedule, victim);
    }
    const { events } = schedule;
    assert.equal(events.length, alive.size);
    events.slice(1).forEach((event, index) => {
      const before = events[index];
      assert.ok(before && (before.at - event.at || before.key - event.key || before.id - event.id) < 0);
    });
  }
});

test('the reader comes before the engine at the same time, the longest wait before the shorter', () => {
  const [reader] = add(EMPTY, 10, 0, 3).events;
  const engine = [
    { at: 10, backend: 2 },
    { at: 10, backend: 1 },
  ];
  assert.deepEqual(nextOf(reader, engine, 0), { reader });
  assert.deepEqual(nextOf(undefined, engine, 0), { engine: { at: 10, backend: 2 } });
  assert.deepEqual(nextOf(reader, [{ at: 9, backend: 5 }], 0), { engine: { at: 9, backend: 5 } });
  assert.equal(nextOf(undefined, [], 0), undefined);
});

test('what is overdue counts as due now', () => {
  const [reader] = add(EMPTY, 5, 0, 3).events;
  assert.deepEqual(nextOf(reader, [{ at: 3, backend: 0 }], 10), { reader });
});

test('policies: by time, by script, by question', async () => {
  let schedule = add(EMPTY, 2, 0, 7);
  schedule = add(schedule, 1, 0, 4);
  schedule = add(schedule, 3, 0, 4);
  const actors = actorsOf(schedule);
  assert.deepEqual(actors, [4, 7]);
  assert.equal(await seededPolicy(actors), 4);
  const script = scriptedPolicy([7]);
  assert.equal(await script(actors), 7);
  assert.equal(await script(actors), 4, 'after its end a script goes by time');
  assert.throws(
    () => scriptedPolicy([5])(actors),
    /Choice 0 of the script is customer 5, which cannot move; customer 4, customer 7 can\./,
  );
  assert.equal(await askedPolicy(async () => 7)(actors), 7);
  await assert.rejects(
    async () => askedPolicy(async () => -1)(actors),
    /The choice is code outside the race, which cannot move/,
  );
});
