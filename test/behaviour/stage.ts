/** What a scene of the suite plays on: six idle sessions, an empty schema, and the means to await and check. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, Field, LockWait, QueryResult, Session } from '../../src/engine/types.ts';
import { failWith, send, type Failure, type Statement } from './schedule.ts';
import { untilDone, untilFailed, untilTrue, untilWaiting } from './schedule.ts';

/**
 * Which wait `expectWaits` awaits. A wait may pass through other states on its
 * way there (a tuple lock first, then the transaction): those are not failures.
 */
export interface WaitWant {
  readonly blockedBy?: readonly Session[];
  readonly lockType?: string;
  readonly mode?: string;
  readonly relation?: string | null;
}

/** Fields that an error must have besides its SQLSTATE; a RegExp must match. */
export type ErrorWant = Readonly<Partial<Record<keyof Failure, string | RegExp>>>;

export interface Stage {
  readonly cluster: Cluster;
  readonly a: Session;
  readonly b: Session;
  readonly c: Session;
  readonly d: Session;
  readonly e: Session;
  readonly f: Session;
  /** Runs statements one after the other; the last one's result. */
  run(session: Session, ...statements: readonly string[]): Promise<QueryResult>;
  /** Runs a statement and compares its rows, as arrays, in order. */
  expectRows(session: Session, sql: string, rows: readonly (readonly unknown[])[]): Promise<void>;
  /** Sends a statement and awaits that it waits for a lock. */
  sendWaiting(session: Session, sql: string, want?: WaitWant): Promise<Statement>;
  /** Awaits that a sent statement waits for a lock. */
  expectWaits(statement: Statement, want?: WaitWant): Promise<LockWait>;
  expectDone(statement: Statement): Promise<QueryResult>;
  expectError(statement: Statement, sqlstate: string, want?: ErrorWant): Promise<Failure>;
  /** Runs a statement that must fail. */
  fails(session: Session, sql: string, sqlstate: string, want?: ErrorWant): Promise<Failure>;
  /** Awaits a condition that becomes true without a statement of ours settling. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
}

function named(sessions: readonly Session[]) {
  const [a, b, c, d, e, f] = sessions;
  if (!a || !b || !c || !d || !e || !f) throw new Error(`expected six sessions, found ${sessions.length}`);
  return { a, b, c, d, e, f };
}

export const rowsOf = (result: QueryResult): unknown[][] => result.rows.map((row) => Object.values(row));

export const fieldNames = (fields: readonly Field[]): string[] => fields.map((field) => field.name);

function matchesWait(wait: LockWait, { blockedBy, ...want }: WaitWant): boolean {
  const pids = blockedBy?.map((session) => session.pid).sort((x, y) => x - y) ?? wait.blockedBy;
  return isDeepStrictEqual({ ...wait, ...want, blockedBy: pids }, wait);
}

function describeWant({ blockedBy, ...want }: WaitWant): string {
  const pids = blockedBy?.map((session) => session.pid);
  return JSON.stringify({ ...want, ...(pids && { blockedBy: pids }) });
}

function checkFailure(failure: Failure, sqlstate: string, want: ErrorWant): void {
  if (failure.code !== sqlstate)
    failWith(`expected error ${sqlstate}, found ${failure.code}: ${failure.message}`, failure);
  for (const [field, expected] of Object.entries(want)) {
    const actual = String(failure[field as keyof Failure] ?? '');
    if (expected instanceof RegExp) assert.match(actual, expected, field);
    else assert.equal(actual, expected, field);
  }
}

/** Resets the cluster and hands its sessions to one scene. */
export async function openStage(cluster: Cluster): Promise<Stage> {
  await cluster.reset();
  const run: Stage['run'] = async (session, ...statements) => {
    const results: QueryResult[] = [];
    for (const sql of statements) results.push(await untilDone(cluster, send(session, sql)));
    return results.at(-1) ?? failWith('expected at least one statement, found none');
  };
  const expectWaits: Stage['expectWaits'] = (statement, want = {}) =>
    untilWaiting(cluster, statement, describeWant(want), (wait) => matchesWait(wait, want));
  const expectError: Stage['expectError'] = async (statement, sqlstate, want = {}) => {
    const failure = await untilFailed(cluster, statement, sqlstate);
    checkFailure(failure, sqlstate, want);
    return failure;
  };
  return {
    cluster,
    ...named(cluster.sessions),
    run,
    expectWaits,
    expectError,
    expectRows: async (session, sql, rows) => assert.deepEqual(rowsOf(await run(session, sql)), rows, sql),
    sendWaiting: async (session, sql, want) => {
      const statement = send(session, sql);
      await expectWaits(statement, want);
      return statement;
    },
    expectDone: (statement) => untilDone(cluster, statement),
    fails: (session, sql, sqlstate, want) => expectError(send(session, sql), sqlstate, want),
    until: (what, condition) => untilTrue(cluster, what, condition),
  };
}
