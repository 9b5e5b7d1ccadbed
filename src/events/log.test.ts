import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from './events.ts';
import { RunLog } from './log.ts';
import { LogBuilder, stamp } from './testing/buildLog.ts';

const started = LogBuilder.start().events[0] as RunEvent;
const print = (at: number): RunEvent => stamp(at, { type: 'console', level: 'log', text: `at ${at}` });
const ended = (at: number): RunEvent => stamp(at, { type: 'run-ended', status: 'done', message: null });

test('events come out as they went in', () => {
  const log = new RunLog();
  log.append(started, print(3));
  log.append(print(3), ended(4));
  assert.deepEqual(log.events, [started, print(3), print(3), ended(4)]);
  assert.equal(log.ended, true);
});

test('what does not fit is refused, with the batch that it is in', () => {
  const log = new RunLog();
  assert.throws(() => log.append(print(0)), /begins with run-started; found console/);
  log.append(started, print(5));
  assert.throws(() => log.append(print(6), print(4)), /console at 4 µs comes after console at 6 µs: time went back/);
  assert.throws(() => log.append(print(6.5)), /stamped 6\.5; expected whole microseconds/);
  assert.throws(() => log.append(started), /second run-started/);
  assert.equal(log.events.length, 2);
});

test('nothing comes after the end', () => {
  const log = new RunLog();
  log.append(started, ended(7));
  assert.throws(() => log.append(print(8)), /console at 8 µs comes after the run's end at 7 µs/);
});

test('a subscriber hears the past from where it wants, then each batch, until it leaves', () => {
  const log = new RunLog();
  const heard: number[][] = [];
  log.append(started, print(1), print(2));
  const leave = log.subscribe((batch) => heard.push(batch.map(({ at }) => at)), 1);
  log.append(print(3), print(4));
  leave();
  log.append(ended(5));
  assert.deepEqual(heard, [
    [1, 2],
    [3, 4],
  ]);
});

test('a subscriber from beyond the present hears nothing before it', () => {
  const log = new RunLog();
  const heard: number[] = [];
  log.subscribe((batch) => heard.push(...batch.map(({ at }) => at)), 2);
  log.append(started, print(1));
  log.append(print(2));
  assert.deepEqual(heard, [2]);
});

test('a listener that appends disturbs nobody else’s order', () => {
  const log = new RunLog();
  const heard: number[] = [];
  log.subscribe((batch) => {
    if (batch.at(-1)?.at === 1) log.append(print(2));
  });
  log.subscribe((batch) => heard.push(...batch.map(({ at }) => at)));
  log.append(started, print(1));
  assert.deepEqual(heard, [0, 1, 2]);
});

test('a listener that throws does not keep others from hearing', () => {
  const log = new RunLog();
  const heard: number[] = [];
  log.subscribe(() => {
    throw new Error('broken chart');
  });
  log.subscribe((batch) => heard.push(batch.length));
  assert.throws(() => log.append(started), /broken chart/);
  assert.deepEqual([heard, log.events.length], [[1], 1]);
});
