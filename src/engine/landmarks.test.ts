/** How a start is recognized, and refused when it goes otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend } from './backend.ts';
import { Landmarks, type Calibration } from './landmarks.ts';
import { Baton, type Range } from './shared.ts';
import { CONTROL, LW_LOCKS, fakeShared } from './testing/fakeShared.ts';

const VARIABLES = { MyProc: 16, MyProcPid: 20, MyLatch: 24, MainLWLockArray: 28, IsUnderPostmaster: 32 } as const;
const LATCH = 2048;
const CONTROL_FIRST: Range = CONTROL;
const INCOMPATIBLE = (message: RegExp) => ({ code: 'INCOMPATIBLE_PGLITE', message });

/** A process at the beginning of its start, with what the landmarks look at. */
function begin(calibration: Calibration = { exitCallbacks: undefined }, baton = new Baton()) {
  const { memory } = fakeShared();
  const variables = Object.fromEntries(Object.entries(VARIABLES).map(([name, value]) => [name, { value }]));
  const variable = (name: keyof typeof VARIABLES): number => memory.getWord(VARIABLES[name]);
  const set = (name: keyof typeof VARIABLES, value: number): void => memory.setWord(VARIABLES[name], value);
  set('MyLatch', LATCH);
  set('MyProcPid', 42);
  memory.setWord(LATCH + 12, 42);
  const backend = { pid: 1001, memory, variables, variable } as unknown as Backend;
  return { landmarks: new Landmarks(backend, baton, calibration), memory, variable, set, calibration, baton };
}

/** Up to the point where shared memory is laid out. */
function layOut(start: ReturnType<typeof begin>): void {
  start.set('MainLWLockArray', LW_LOCKS);
  start.landmarks.onMap(CONTROL_FIRST.start, CONTROL_FIRST.size);
}

test('the leader: its pid, its memory, and the count of callbacks before recovery', () => {
  const leader = begin();
  leader.landmarks.onMap(1, 2);
  layOut(leader);
  leader.landmarks.onMap(3, 4);
  leader.landmarks.onShmemStartup();
  assert.deepEqual(leader.baton.layout?.control, CONTROL, 'neither the mapping before nor the one after');
  assert.equal(leader.variable('MyProcPid'), 1001);
  assert.equal(leader.memory.getWord(LATCH + 12), 1001);
  leader.landmarks.onShmemExit();
  leader.set('MyProc', 500);
  for (let call = 0; call < 6; call++) leader.landmarks.onShmemExit();
  leader.landmarks.onOpen('backup_label');
  leader.landmarks.onOpen('anything');
  assert.equal(leader.calibration.exitCallbacks, 5, 'but for the one that recovery registers itself');
  assert.equal(leader.variable('IsUnderPostmaster'), 0);
});

test('a follower is under a postmaster from the decision about recovery to the next file', () => {
  const leader = begin();
  layOut(leader);
  leader.landmarks.onShmemStartup();
  const follower = begin({ exitCallbacks: 2 }, leader.baton);
  layOut(follower);
  follower.landmarks.onShmemStartup();
  assert.equal(follower.baton.copied.times, 1, 'it has got the live memory');
  follower.set('MyProc', 500);
  const seen = [0, 1, 2].map(() => {
    follower.landmarks.onShmemExit();
    return follower.variable('IsUnderPostmaster');
  });
  assert.deepEqual(seen, [0, 1, 1]);
  follower.landmarks.onOpen('/pglite/data/global/pg_filenode.map');
  assert.equal(follower.variable('IsUnderPostmaster'), 0);
});

test('starts that go otherwise are refused', () => {
  const unmapped = begin();
  unmapped.set('MainLWLockArray', LW_LOCKS);
  assert.throws(() => unmapped.landmarks.onShmemStartup(), INCOMPATIBLE(/no control segment of dynamic shared memory/));

  const latchless = begin();
  layOut(latchless);
  latchless.memory.setWord(LATCH + 12, 7);
  assert.throws(() => latchless.landmarks.onShmemStartup(), INCOMPATIBLE(/a latch owned by 7 instead of 42/));

  const leader = begin();
  leader.set('MyProc', 500);
  assert.throws(
    () => leader.landmarks.onOpen('PG_VERSION'),
    INCOMPATIBLE(/opens PG_VERSION where backup_label was expected/),
  );

  const follower = begin({ exitCallbacks: 1 });
  follower.set('MyProc', 500);
  follower.landmarks.onShmemExit();
  assert.throws(
    () => follower.landmarks.onOpen('global/pg_control'),
    INCOMPATIBLE(/opens global\/pg_control where pg_filenode.map was expected/),
  );
});

test('a follower whose memory lies elsewhere is refused', () => {
  const leader = begin();
  layOut(leader);
  leader.landmarks.onShmemStartup();
  const follower = begin({ exitCallbacks: 1 }, leader.baton);
  follower.set('MainLWLockArray', LW_LOCKS);
  follower.landmarks.onMap(CONTROL.start + 4096, CONTROL.size);
  assert.throws(
    () => follower.landmarks.onShmemStartup(),
    INCOMPATIBLE(/100 bytes at 804096.* instead of .*100 bytes at 800000/),
  );
});

test('memory that is laid out otherwise is refused', () => {
  const leader = begin();
  layOut(leader);
  leader.memory.setWord(4096, 0);
  assert.throws(() => leader.landmarks.onShmemStartup(), INCOMPATIBLE(/no PGShmemHeader/));
});
