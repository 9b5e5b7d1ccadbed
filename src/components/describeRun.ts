/** The small print under a verdict. Pure: a run in, words out. */
import type { Summary } from '../events/summary.ts';

export type RecordedSummary = Omit<Summary, 'wallMs'>;
/** What tells whether a run has to equal the recorded one, and whether it does. */
export type Recorded = Pick<Summary, 'seed' | 'connections' | 'logHash'>;

/** `virtual clock · seed 1 · 0.164 virtual s · 8 sessions · PostgreSQL 18.7 in this page · ran in 1.9 s` */
export function describeRun(summary: Summary): string {
  const wall = `ran in ${(summary.wallMs / 1000).toFixed(1)} s`;
  return [...conditions(summary), `PostgreSQL ${summary.versions.postgres} in this page`, wall].join(' · ');
}

export function describeRecorded(summary: RecordedSummary): string {
  const { pglite, postgres } = summary.versions;
  return [...conditions(summary), `PostgreSQL ${postgres} (PGlite ${pglite}) in Node`].join(' · ');
}

/** Only a run with the recorded seed and sessions can be told the same or not. */
export function compareLogs(run: Recorded, recorded: Recorded): string {
  const log = `log ${shortHash(run.logHash)}`;
  if (run.seed !== recorded.seed || run.connections !== recorded.connections) return log;
  if (run.logHash === recorded.logHash) return `${log}, the same as recorded`;
  return `${log}, not the same as recorded (${shortHash(recorded.logHash)})`;
}

/** Enough of a log's hash to read out; all of it counts when two are compared. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

export function inSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function conditions({ clock, seed, raceMs, connections }: RecordedSummary): string[] {
  const unit = clock === 'virtual' ? 'virtual s' : 's';
  const sessions = connections === 1 ? '1 session' : `${connections} sessions`;
  return [`${clock} clock`, `seed ${seed}`, `${inSeconds(raceMs)} ${unit}`, sessions];
}
