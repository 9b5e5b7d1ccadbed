/**
 * Sends statements and awaits what becomes of them. Whether a statement waits
 * is asked of Postgres, never guessed from the time that has passed: the one
 * clock here is a deadline that turns a hang into a failure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseErrorFields } from '../../src/engine/errors.ts';
import type { Cluster, LockWait, QueryResult, Session } from '../../src/engine/types.ts';

const DEADLINE_MS = 10_000;
const POLL_MS = 2;
/** Longer than any timeout that lets a statement of the suite be done after all. */
const HOPE_MS = 1_000;

/** What an error of `pg` and of the engine have in common. */
export type Failure = Error & Omit<DatabaseErrorFields, 'code'> & { readonly code: string };

type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly result: QueryResult }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A statement that was sent. It may be left alone: its rejection is always handled. */
export interface Statement {
  readonly session: Session;
  readonly sql: string;
  readonly outcome: Outcome;
  /** Resolves when the statement is no longer pending; never rejects. */
  readonly settled: Promise<void>;
}

export function failWith(message: string, cause?: unknown): never {
  throw new Error(message, { cause });
}

/** Several statements in one query give an array, as in node-postgres. */
function lastOf(result: QueryResult | QueryResult[]): QueryResult {
  return Array.isArray(result) ? (result.at(-1) ?? failWith('expected a result, found none')) : result;
}

/** Sends a statement and does not await it. */
export function send(session: Session, sql: string, values?: readonly unknown[]): Statement {
  const statement = { session, sql, outcome: { kind: 'pending' } as Outcome, settled: Promise.resolve() };
  const answer = values ? session.query(sql, values) : session.query(sql);
  statement.settled = answer.then(
    (result) => void (statement.outcome = { kind: 'done', result: lastOf(result) }),
    (error: unknown) => void (statement.outcome = { kind: 'failed', error }),
  );
  return statement;
}

export const isPending = (statement: Statement) => statement.outcome.kind === 'pending';

/** Who waits for whom, for the message of a failure. */
async function describeWaits(cluster: Cluster): Promise<string> {
  const waits = await cluster.waits();
  if (waits.length === 0) return 'no session waits for a lock';
  return waits
    .map(
      (w) =>
        `pid ${w.pid} waits for ${w.mode} on ${w.relation ?? w.lockType}, blocked by ${w.blockedBy.join(', ')}: ${w.query}`,
    )
    .join('; ');
}

const describe = ({ session, sql }: Statement) => `session ${session.index} (pid ${session.pid}): ${sql}`;

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `${String(error.code)} ${error.message}` : error.message;
}

/** Polls until `look` gives something other than null. */
async function poll<T>(cluster: Cluster, what: string, look: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== null) return found;
    await pause(POLL_MS);
  }
  return failWith(`expected within ${DEADLINE_MS / 1000} s: ${what}; found: ${await describeWaits(cluster)}`);
}

export async function untilTrue(
  cluster: Cluster,
  what: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  await poll(cluster, what, async () => ((await condition()) ? true : null));
}

/** Awaits that the statement waits for a lock, with a wait that matches; fails when it settles instead. */
export function untilWaiting(
  cluster: Cluster,
  statement: Statement,
  want: string,
  matches: (wait: LockWait) => boolean,
): Promise<LockWait> {
  return poll(cluster, `to wait ${want}: ${describe(statement)}`, async () => {
    if (statement.outcome.kind === 'done') failWith(`expected to wait, was done: ${describe(statement)}`);
    if (statement.outcome.kind === 'failed') {
      failWith(`expected to wait, failed with ${describeError(statement.outcome.error)}: ${describe(statement)}`);
    }
    const waits = await cluster.waits();
    return waits.find((wait) => wait.pid === statement.session.pid && matches(wait)) ?? null;
  });
}

/** True when the statement is still pending after that time. */
async function staysPending(statement: Statement, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = pause(ms, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([statement.settled, late]);
  timer.abort();
  return isPending(statement);
}

async function untilSettled(cluster: Cluster, statement: Statement, expected: string): Promise<Outcome> {
  if (await staysPending(statement, DEADLINE_MS)) {
    failWith(
      `expected ${expected} within ${DEADLINE_MS / 1000} s: ${describe(statement)}; found: ${await describeWaits(cluster)}`,
    );
  }
  return statement.outcome;
}

/** Fails early when the statement waits for sessions that do nothing: only the test itself could let it go. */
async function assertHope(cluster: Cluster, statement: Statement): Promise<void> {
  const waits = await cluster.waits();
  const wait = waits.find(({ pid }) => pid === statement.session.pid);
  const idle = new Set(cluster.sessions.filter(({ state }) => state === 'idle').map(({ pid }) => pid));
  if (wait?.blockedBy.every((pid) => idle.has(pid))) {
    failWith(
      `expected to be done, waits for an idle session: ${describe(statement)}; found: ${await describeWaits(cluster)}`,
    );
  }
}

export async function untilDone(cluster: Cluster, statement: Statement): Promise<QueryResult> {
  if (await staysPending(statement, HOPE_MS)) await assertHope(cluster, statement);
  const outcome = await untilSettled(cluster, statement, 'to be done');
  if (outcome.kind === 'done') return outcome.result;
  const error = outcome.kind === 'failed' ? outcome.error : undefined;
  return failWith(`expected to be done, failed with ${describeError(error)}: ${describe(statement)}`, error);
}

function toFailure(error: unknown): Failure {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error as Failure;
  return failWith(`expected an error with a code, found ${describeError(error)}`, error);
}

export async function untilFailed(cluster: Cluster, statement: Statement, code: string): Promise<Failure> {
  const outcome = await untilSettled(cluster, statement, `error ${code}`);
  if (outcome.kind === 'failed') return toFailure(outcome.error);
  return failWith(`expected error ${code}, was done: ${describe(statement)}`);
}

/** Awaits that every statement has settled, however. */
export async function untilAllSettled(cluster: Cluster, statements: readonly Statement[]): Promise<void> {
  for (const statement of statements) await untilSettled(cluster, statement, 'to settle');
}
