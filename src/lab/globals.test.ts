import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setHost } from './context.ts';
import { FakeHost } from './fakeHost.ts';
import { installGlobals, type GlobalScope } from './globals.ts';
import { LabError, parameter, parameters, race, rng, sleep } from './index.ts';

/** A realm of its own, as a cell has it. */
function makeScope(): GlobalScope & Required<Pick<typeof globalThis, 'setTimeout' | 'setInterval'>> {
  const { Date, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const own = { Math: { random: Math.random }, performance: { now: () => -1 }, crypto: { randomUUID: () => '' } };
  return { Date, setTimeout, clearTimeout, setInterval, clearInterval, ...own } as never;
}

test('Date and performance.now are the run’s, and everything is restored', async () => {
  const host = new FakeHost();
  setHost(host);
  const scope = makeScope();
  const before = { ...scope, random: scope.Math.random, now: scope.performance.now };
  const undo = installGlobals(scope, host);
  await sleep(1500);
  assert.equal(scope.performance.now(), 1500);
  assert.equal(new scope.Date().toISOString(), '2030-01-01T00:00:01.500Z');
  assert.equal(scope.Date.now(), Date.UTC(2030, 0, 1) + 1500);
  assert.equal(new scope.Date(5).getTime(), 5);
  assert.ok(new scope.Date() instanceof Date);
  undo();
  assert.equal(scope.Date, before.Date);
  assert.equal(scope.setTimeout, before.setTimeout);
  assert.equal(scope.Math.random, before.random);
  assert.equal(scope.performance.now, before.now);
});

test('timers run on the run’s clock, can be cleared, and keep the customer', async () => {
  const host = new FakeHost();
  setHost(host);
  const scope = makeScope();
  installGlobals(scope, host);
  const later = scope.setTimeout as unknown as (call: (value: string) => void, ms: number, value: string) => number;
  const every = scope.setInterval as unknown as (call: () => void, ms: number) => number;
  const clear = scope.clearInterval as (id: number) => void;
  const heard: string[] = [];
  later((value) => heard.push(`${value} ${host.now()}`), 20, 'b');
  const cleared = later(() => heard.push('never'), 15, '');
  clear(cleared);
  let beats = 0;
  const beat = every(() => {
    beats += 1;
    if (beats === 3) clear(beat);
  }, 10);
  await sleep(100);
  assert.deepEqual([heard, beats], [['b 20000'], 3]);
  await race({ customers: 3, each: 1 }, async ({ customer }) => {
    await new Promise<void>((resolve) => void later(() => resolve(), 5, ''));
    await sleep(1 + customer);
  });
  const slept = host.events('sleep').slice(1);
  for (const { customer, duration } of slept) assert.equal(customer, duration / 1000 - 1);
});

test('Math.random and randomUUID repeat with the seed', () => {
  const draw = (seed: number): [number, unknown] => {
    const host = new FakeHost({ seed });
    const scope = makeScope();
    installGlobals(scope, host);
    return [scope.Math.random(), (scope.crypto.randomUUID as () => string)()];
  };
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  assert.match(String(draw(1)[1]), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('rng: ranges, shuffles, samples', () => {
  setHost(new FakeHost());
  const random = rng(42);
  const drawn = Array.from({ length: 500 }, () => random.integer(1, 3));
  assert.deepEqual(new Set(drawn), new Set([1, 2, 3]));
  const list = [0, 1, 2, 3, 4, 5, 6, 7];
  assert.deepEqual(random.shuffle(list).toSorted(), list);
  for (let i = 0; i < 50; i++) assert.equal(new Set(random.sample(list, 3)).size, 3);
  assert.deepEqual(rng(42).sample(list, 3), rng(42).sample(list, 3));
  assert.deepEqual(list, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.throws(() => random.sample(list, 9), LabError);
  assert.throws(() => random.pick([]), LabError);
  const first = rng('carts').number();
  assert.notEqual(rng('carts').number(), first);
  setHost(new FakeHost());
  assert.equal(rng('carts').number(), first);
});

test('parameters are the run’s', () => {
  setHost(new FakeHost({ parameters: { gatewayMs: 50, mode: 'x' } }));
  assert.deepEqual({ ...parameters }, { gatewayMs: 50, mode: 'x' });
  assert.equal(parameters.other, undefined);
  assert.equal(parameter('gatewayMs', 100), 50);
  assert.equal(parameter('other', 100), 100);
  assert.throws(() => parameter('mode', 1), { message: /expected a number; found "x"/ });
});
