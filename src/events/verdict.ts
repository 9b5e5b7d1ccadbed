/** What a run amounts to, in words: every sentence about a tally is made here. */
import type { RunStarted } from './events.ts';
import type { Sale } from './sale.ts';
import type { Tally } from './tally.ts';

export interface Verdict {
  /** `open`: nothing can be said yet, or the run did not come to its end. */
  readonly tone: 'bad' | 'ok' | 'open';
  /** Comes first and carries the colour. */
  readonly figure: string;
  /** Follows the figure after a comma; may be empty. */
  readonly rest: string;
  /** What else happened, for example `220 deadlocks`; may be empty. */
  readonly also: readonly string[];
  /** All of it, for a screen reader or a terminal. */
  readonly sentence: string;
}

export interface VerdictWords {
  /** What is sold, in the plural. */
  readonly goods: string;
}

export function judge(tally: Tally, words: VerdictWords = { goods: 'orders' }): Verdict {
  const [figure, ...clauses] = headline(tally, words);
  const rest = clauses.join(', ');
  const also = describeTrouble(tally);
  const sentence = [[figure, ...clauses].join(', '), also.join(', ')].filter((part) => part !== '').map(toSentence);
  return { tone: toneOf(tally), figure, rest, also, sentence: sentence.join(' ') };
}

/** For example `virtual clock · seed 1 · PostgreSQL 18 · 0.16 virtual s`. */
export function describeConditions({ clock, seed, versions }: RunStarted, tally: Tally): string {
  const duration = describeDuration(tally.raceMicroseconds, clock);
  return [`${clock} clock`, `seed ${seed}`, `PostgreSQL ${majorOf(versions.postgres)}`, duration].join(' · ');
}

/** A duration never goes without its clock: `0.16 virtual s`, `3.1 virtual ms`; of the real clock plain `0.16 s`. */
export function describeDuration(microseconds: number, clock: RunStarted['clock']): string {
  const unit = clock === 'virtual' ? 'virtual ' : '';
  if (microseconds < 100_000) return `${(microseconds / 1000).toFixed(1)} ${unit}ms`;
  const seconds = microseconds / 1_000_000;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} ${unit}s`;
}

/** `18.3 (Debian …)`, `PostgreSQL 18.3 on …` and `18` alike give `18`; what has no number is given as it is. */
function majorOf(version: string): string {
  return /\d+/.exec(version)?.[0] ?? version;
}

function headline(tally: Tally, { goods }: VerdictWords): [string, ...string[]] {
  const { status, message, sale } = tally;
  if (status === 'failed') return [`the run failed${message === null ? '' : `: ${message}`}`];
  if (status === 'stopped') return ['stopped', describeProgress(tally)];
  if (sale === null) return [describeProgress(tally)];
  return [`sold ${sale.sold} ${goods}`, `stock shows ${sale.stockAfter}`, ...describeSale(sale)];
}

function describeSale({ oversold, untraced, balanced }: Sale): string[] {
  if (oversold > 0) return [`oversold by ${oversold}`];
  if (balanced) return ['nothing oversold'];
  const fault = untraced > 0 ? `${untraced} sold without a trace in it` : `it fell by ${-untraced} more than was sold`;
  return [fault];
}

function describeProgress({ attempts, outcomes }: Tally): string {
  return `${sum(Object.values(outcomes))} of ${plural(attempts, 'attempt')} answered`;
}

function describeTrouble(tally: Tally): string[] {
  const told = TROUBLE.map(([count, ...words]) => [count(tally), ...words] as const)
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => plural(count, one, many));
  const silent = told.length === 0 && tally.status === 'done' && toneOf(tally) === 'bad';
  return silent ? ['nobody got an error'] : told;
}

const TROUBLE: readonly (readonly [count: (tally: Tally) => number, one: string, many?: string])[] = [
  [({ deadlocks }) => deadlocks, 'deadlock'],
  [({ serializationFailures }) => serializationFailures, 'serialization failure'],
  [({ lockTimeouts }) => lockTimeouts, 'lock timeout'],
  [({ connectionTimeouts }) => connectionTimeouts, 'connection timeout'],
  [({ uniqueViolations }) => uniqueViolations, 'unique violation'],
  [({ otherErrors }) => sum(Object.values(otherErrors)), 'other error'],
  [({ retries }) => retries, 'retry', 'retries'],
  [({ outcomes }) => outcomes.failed, 'attempt failed', 'attempts failed'],
  [({ outcomes }) => outcomes['gave-up'], 'attempt gave up', 'attempts gave up'],
];

function toneOf({ status, sale }: Tally): Verdict['tone'] {
  if (status === 'failed') return 'bad';
  if (status === 'stopped' || sale === null) return 'open';
  return sale.oversold > 0 || !sale.balanced ? 'bad' : 'ok';
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function toSentence(clauses: string): string {
  return clauses.charAt(0).toUpperCase() + clauses.slice(1) + (/[.!?]$/.test(clauses) ? '' : '.');
}

function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
