/** Whether a run shows what its lesson says. */
import assert from 'node:assert/strict';
import type { RunEvent } from '../../src/events/events.ts';
import type { Summary } from '../../src/events/summary.ts';
import type { Shape } from '../../src/lessons/spec.ts';

/** Codes that deadlocks and retries bring with them need no mention. */
function codesOf(events: readonly RunEvent[]): string[] {
  return [...new Set(events.flatMap((event) => (event.type === 'query-failed' ? [event.code] : [])))];
}

/**
 * @param exact on the virtual clock counts are promised; a native server has its own time, and only
 *   whether something happens at all is.
 */
export function assertShape(shape: Shape, summary: Summary, events: readonly RunEvent[], exact: boolean): void {
  const { sold, oversold, deadlocks, retries, balanced } = summary;
  const found = `sold ${sold}, oversold ${oversold}, ${deadlocks} deadlocks, ${retries} retries`;
  assert.equal((oversold ?? 0) > 0, shape.oversold === 'always', `oversold ${shape.oversold} expected: ${found}`);
  if (shape.sold !== undefined) assert.equal(sold, shape.sold, found);
  assertCount('deadlocks', shape.deadlocks, deadlocks, exact);
  assertCount('retries', shape.retries, retries, exact);
  assert.equal(balanced, shape.balanced, `${shape.balanced ? 'a' : 'no'} balanced ledger expected: ${found}`);
  const unexpected = codesOf(events).filter((code) => !shape.codes.includes(code));
  assert.deepEqual(unexpected, [], 'SQLSTATEs that the lesson does not mention');
}

function assertCount(what: string, expected: number | 'none', found: number, exact: boolean): void {
  if (expected === 'none') assert.equal(found, 0, `no ${what} expected`);
  else assert.ok(found >= (exact ? expected : 1), `at least ${exact ? expected : 1} ${what} expected, ${found} found`);
}
