import type { RunEvent, RunStarted } from './events.ts';
import { hashLog } from './hashLog.ts';
import { foldTally } from './tally.ts';

/** One run as a line of JSON. Counts of the final tally are null when the run never came to one. */
export interface Summary {
  /** `01-the-sale` of `01-the-sale/naive`; null for code of a reader's. */
  readonly lesson: string | null;
  readonly cell: string;
  readonly seed: number;
  readonly clock: RunStarted['clock'];
  readonly connections: number;
  readonly attempts: number;
  readonly sold: number | null;
  readonly stockBefore: number | null;
  readonly stockAfter: number | null;
  readonly oversold: number | null;
  readonly deadlocks: number;
  readonly serializationFailures: number;
  readonly retries: number;
  /** Of the race, on the virtual clock; null on the real one. */
  readonly virtualMs: number | null;
  /** Of the race, on the run's clock, whichever that is. */
  readonly raceMs: number;
  /** Of the machine, for all of the run. */
  readonly wallMs: number;
  readonly balanced: boolean | null;
  readonly logHash: string;
  readonly versions: RunStarted['versions'];
}

/**
 * `wallMs`: what the caller measured; the log of a run on the virtual clock does not know.
 *
 * @throws RangeError when the log does not begin with `run-started`.
 */
export function summarise(events: readonly RunEvent[], wallMs: number): Summary {
  const [started] = events;
  if (started?.type !== 'run-started') {
    throw new RangeError(`A log begins with run-started; found ${started?.type ?? 'no event'}.`);
  }
  const { seed, clock, sessions: connections, versions } = started;
  return {
    ...nameCell(started.cell),
    seed,
    clock,
    connections,
    ...count(events, clock),
    wallMs,
    logHash: hashLog(events),
    versions,
  };
}

function count(events: readonly RunEvent[], clock: RunStarted['clock']) {
  const { attempts, sale, deadlocks, serializationFailures, retries, raceMicroseconds } = foldTally(events);
  const { sold = null, stockBefore = null, stockAfter = null, oversold = null, balanced = null } = sale ?? {};
  const raceMs = raceMicroseconds / 1000;
  const virtualMs = clock === 'virtual' ? raceMs : null;
  const errors = { deadlocks, serializationFailures, retries };
  return { attempts, sold, stockBefore, stockAfter, oversold, ...errors, virtualMs, raceMs, balanced };
}

function nameCell(name: string): Pick<Summary, 'lesson' | 'cell'> {
  const slash = name.indexOf('/');
  return slash < 0 ? { lesson: null, cell: name } : { lesson: name.slice(0, slash), cell: name.slice(slash + 1) };
}
