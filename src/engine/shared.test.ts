import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Baton, describeDifference, findShared, rangesInUse, type Range } from './shared.ts';
import {
  BLOCK,
  BUFFERS,
  CONTROL,
  LW_LOCKS,
  bufferPage,
  cachePage,
  descriptorOf,
  fakeShared,
  statusOf,
} from './testing/fakeShared.ts';
import type { FakeShared } from './testing/fakeShared.ts';

const JUST_DIRTIED = 1 << 28;
const layoutOf = ({ memory }: FakeShared) => findShared(memory, LW_LOCKS, CONTROL);
const covers = (ranges: readonly Range[], at: number): boolean =>
  ranges.some(({ start, size }) => at >= start && at < start + size);

/** A baton that has gone from one to two, so that both have everything. */
function pair() {
  const [one, two] = [fakeShared(), fakeShared()];
  const baton = new Baton();
  baton.found(layoutOf(one), one);
  baton.join(two);
  return { one, two, baton };
}

/** Changes a page as Postgres does. */
function change(shared: FakeShared, id: number, value: number): void {
  shared.memory.setWord(bufferPage(shared, id) + 4000, value);
  const state = descriptorOf(shared, id) + 24;
  shared.memory.setWord(state, shared.memory.getWord(state) | JUST_DIRTIED);
}

const valueOf = (shared: FakeShared, id: number): number => shared.memory.getWord(bufferPage(shared, id) + 4000);

test('the layout is found by the header and the index', () => {
  const shared = fakeShared();
  const { block, kept, slrus, buffers } = layoutOf(shared);
  assert.equal(block.start, BLOCK);
  assert.deepEqual(
    kept,
    ['Preallocated DSM', 'Shared Memory Stats', 'commit_timestamp'].map((name) => shared.structs.get(name)),
  );
  // 'subtransaction' ends like 'transaction'.
  assert.deepEqual(slrus.slice(0, 2), [shared.structs.get('transaction'), shared.structs.get('subtransaction')]);
  assert.deepEqual(buffers.blocks, shared.structs.get('Buffer Blocks'));
});

test('another layout is refused with what was not found', () => {
  const damage = (address: number, value: number): (() => unknown) => {
    const shared = fakeShared();
    shared.memory.setWord(address, value);
    return () => layoutOf(shared);
  };
  assert.throws(damage(BLOCK, 1), /no PGShmemHeader \(magic 679834894\) below MainLWLockArray/);
  assert.throws(damage(BLOCK + 1024, 1), /no entry 'Preallocated DSM' in ShmemIndex/);
  assert.throws(damage(statusOf(fakeShared(), 'notify', 0), 9), /a cache 'notify' that is laid out differently/);
  assert.throws(damage(fakeShared().structs.get('serializable')?.start ?? 0, 100_000), /'serializable'.*100000 slots/);
  assert.throws(damage(descriptorOf(fakeShared(), 2) + 20, 7), /buffers that are laid out differently/);
});

test('what is in use: nothing kept, no empty page, nothing beyond the end', () => {
  const shared = fakeShared();
  const layout = layoutOf(shared);
  shared.memory.setWord(statusOf(shared, 'transaction', 1), 2);
  const ranges = rangesInUse(shared.memory, layout);
  for (const { start } of [...layout.kept, layout.buffers.blocks]) assert.ok(!covers(ranges, start));
  assert.deepEqual(
    [0, 1].map((slot) => covers(ranges, cachePage(shared, 'transaction', slot))),
    [false, true],
  );
  assert.ok(!covers(ranges, cachePage(shared, 'notify', 0)));
  assert.ok(covers(ranges, layout.buffers.descriptors.start));
  const end = BLOCK + shared.memory.getWord(BLOCK + 12);
  assert.ok(ranges.every(({ start, size }) => size > 0 && start >= BLOCK && start + size <= end));
  shared.memory.setWord(BLOCK + 12, end - BLOCK + 512);
  assert.ok(covers(rangesInUse(shared.memory, layout), end + 500), 'it grows');
});

test('a difference is described, sameness is not', () => {
  const layout = layoutOf(fakeShared());
  assert.equal(describeDifference(layout, layoutOf(fakeShared())), undefined);
  const moved = { ...layout, control: { start: 1, size: 2 } };
  assert.match(
    describeDifference(layout, moved) ?? '',
    /^shared memory of .*2 bytes at 1.* instead of .*100 bytes at 800000/,
  );
});

test('who joins gets everything; the holder gets nothing again', () => {
  const [one, two] = [fakeShared(), fakeShared()];
  const baton = new Baton();
  one.memory.setByte(layoutOf(one).kept[0]?.start ?? 0, 7);
  one.memory.setByte(CONTROL.start, 8);
  baton.found(layoutOf(one), one);
  baton.join(two);
  assert.equal(baton.holder, two);
  assert.equal(two.memory.bytes[layoutOf(one).kept[0]?.start ?? 0], 7);
  assert.equal(two.memory.bytes[CONTROL.start], 8);
  const before = { ...baton.copied };
  baton.take(two);
  assert.deepEqual(baton.copied, before);
  baton.take(one);
  assert.equal(baton.copied.times, before.times + 1);
});

test('a page of the buffer cache is copied to whoever lacks it, once', () => {
  const { one, two, baton } = pair();
  const three = fakeShared();
  baton.join(three);
  change(three, 1, 11);
  baton.take(one);
  assert.deepEqual([valueOf(one, 1), one.memory.getWord(descriptorOf(one, 1) + 24) & JUST_DIRTIED], [11, 0]);
  change(one, 2, 22);
  baton.take(two);
  assert.deepEqual([valueOf(two, 1), valueOf(two, 2)], [11, 22], 'changed by different holders');
  const before = baton.copied.bytes;
  baton.take(one);
  const withoutPages = baton.copied.bytes - before;
  baton.take(three);
  assert.equal(baton.copied.bytes - before - withoutPages, withoutPages + 8192, 'it had changed page 1 itself');
  assert.equal(valueOf(three, 2), 22);
});

test('a buffer with another page, or a new page under an old tag, is copied though it is not dirty', () => {
  const { one, two, baton } = pair();
  two.memory.setWord(descriptorOf(two, 0) + 16, 5);
  two.memory.setWord(bufferPage(two, 0) + 4000, 33);
  two.memory.setWord(bufferPage(two, 3) + 4, 1);
  two.memory.setWord(bufferPage(two, 3) + 4000, 44);
  two.memory.setWord(bufferPage(two, 1) + 4000, 55);
  baton.take(one);
  assert.deepEqual([valueOf(one, 0), valueOf(one, 1), valueOf(one, 3)], [33, 0, 44]);
});

test('over many random turns every holder has what a truly shared cache would have', () => {
  const { one, two, baton } = pair();
  const holders = [one, two, fakeShared(), fakeShared()];
  holders.slice(2).forEach((holder) => baton.join(holder));
  const truth = Array.from({ length: BUFFERS }, () => 0);
  for (let turn = 1; turn < 2000; turn++) {
    const holder = holders[Math.floor(Math.random() * holders.length)] as FakeShared;
    baton.take(holder);
    assert.deepEqual(
      truth.map((_, id) => valueOf(holder, id)),
      truth,
    );
    const id = Math.floor(Math.random() * BUFFERS);
    change(holder, id, turn);
    truth[id] = turn;
  }
});
