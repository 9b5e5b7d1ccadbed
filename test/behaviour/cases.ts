/** Plays the public cases, step by step, over any engine. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Cluster, QueryResult, Session } from '../../src/engine/types.ts';
import { failWith, send, untilAllSettled, type Statement } from './schedule.ts';
import { openStage, type Stage } from './stage.ts';
import type { Traits } from './topic.ts';
import { readPublicCases, type Expectation, type Scenario, type Step } from './publicCases.ts';

const INT8 = 20;
const NUMERIC = 1700;

/** The cases write every number as a number; node-postgres gives `int8` and `numeric` as text. */
function plainRows(result: QueryResult): unknown[][] {
  const numeric = new Set(
    result.fields.filter((f) => f.dataTypeID === INT8 || f.dataTypeID === NUMERIC).map((f) => f.name),
  );
  return result.rows.map((row) =>
    Object.entries(row).map(([name, value]) => (numeric.has(name) && value !== null ? Number(value) : value)),
  );
}

const asMultiset = (rows: readonly (readonly unknown[])[]) => rows.map((row) => JSON.stringify(row)).sort();

function checkRows(result: QueryResult, rows: readonly (readonly unknown[])[], ordered = false): void {
  const found = plainRows(result);
  if (ordered) assert.deepEqual(found, rows);
  else assert.deepEqual(asMultiset(found), asMultiset(rows));
}

class CaseRun {
  readonly #stage: Stage;
  readonly #names: Map<string, Session>;
  readonly #waiting = new Map<Session, Statement>();

  constructor(stage: Stage) {
    this.#stage = stage;
    const { a, b, c, d } = stage;
    this.#names = new Map([
      ['A', a],
      ['B', b],
      ['C', c],
      ['D', d],
    ]);
  }

  /** Sends the step, checks what it brings, and that whatever is not unblocked still waits. */
  async play({ s, sql, expect, unblocks = [] }: Step): Promise<void> {
    const session = this.#session(s);
    if (this.#waiting.has(session)) failWith(`expected session ${s} to be idle, it waits: ${sql}`);
    const statement = send(session, sql);
    await this.#check(statement, expect);
    for (const unblocked of unblocks) await this.#check(this.#take(unblocked.s), unblocked.expect);
    for (const waiting of this.#waiting.values()) await this.#stage.expectWaits(waiting);
  }

  #session(name: string): Session {
    return this.#names.get(name) ?? failWith(`expected one of ${[...this.#names.keys()].join(', ')}, found ${name}`);
  }

  /** The waiting statement of a session, which from now on is not expected to wait. */
  #take(name: string): Statement {
    const session = this.#session(name);
    const statement = this.#waiting.get(session) ?? failWith(`expected session ${name} to wait, it does not`);
    this.#waiting.delete(session);
    return statement;
  }

  async #check(statement: Statement, expect: Expectation): Promise<void> {
    if (expect.blocks) return this.#checkWaits(statement);
    if (expect.deadlock) return this.#checkDeadlock(statement, expect.deadlock);
    if (expect.error !== undefined) {
      const { message } = expect;
      await this.#stage.expectError(statement, expect.error, message === undefined ? {} : { message });
      return;
    }
    const result = await this.#stage.expectDone(statement);
    if (expect.rows) checkRows(result, expect.rows, expect.ordered);
    if (expect.affected !== undefined) assert.equal(result.rowCount, expect.affected, statement.sql);
  }

  async #checkWaits(statement: Statement): Promise<void> {
    await this.#stage.expectWaits(statement);
    this.#waiting.set(statement.session, statement);
  }

  /** Which of them is the victim is Postgres' choice; that it is one of them is not. */
  async #checkDeadlock(closing: Statement, names: readonly string[]): Promise<void> {
    this.#waiting.set(closing.session, closing);
    const statements = new Map(names.map((name) => [name, this.#take(name)]));
    await untilAllSettled(this.#stage.cluster, [...statements.values()]);
    const victims = [...statements].filter(([, { outcome }]) => outcome.kind === 'failed');
    assert.equal(victims.length, 1, `one victim among ${names.join(', ')}`);
    for (const [name, statement] of statements) {
      const fell = name === victims[0]?.[0];
      if (fell) await this.#stage.expectError(statement, '40P01', { message: 'deadlock detected' });
      this.#names.set(fell ? '$victim' : '$survivor', statement.session);
    }
  }
}

async function playScenario(stage: Stage, { setup, steps, final, teardown }: Scenario): Promise<void> {
  const { run, f } = stage;
  await run(f, ...setup);
  const play = new CaseRun(stage);
  for (const step of steps) await play.play(step);
  for (const { sql, rows } of final) checkRows(await run(f, sql), rows);
  await run(f, ...teardown);
}

/**
 * Scenarios in which a commit lets two waiters loose on a row that has changed.
 * `heap_update` drops the queue's lock (the tuple lock) before it returns to
 * fetch the new version, so on a server whose sessions run at the same time
 * the second waiter now and then gets there first (about once in twenty).
 * There the scenario may be tried again; an engine that takes turns has one try.
 */
const RACES_IN_PARALLEL: readonly string[] = ['guarded-decrement-three'];
const TRIES = 5;

async function playWithRetries(cluster: Cluster, scenario: Scenario, tries: number): Promise<void> {
  try {
    await playScenario(await openStage(cluster), scenario);
  } catch (error) {
    if (tries === 1) throw error;
    await playWithRetries(cluster, scenario, tries - 1);
  }
}

/** Registers one test for each scenario, over a cluster that `open` gives as for `behaviourSuite`. */
export function caseSuite(name: string, open: () => Promise<Cluster>, traits: Traits): void {
  describe(`public cases: ${name}`, () => {
    let cluster: Cluster | undefined;
    before(async () => void (cluster = await open()));
    after(() => cluster?.close());
    for (const { id, scenarios } of readPublicCases()) {
      describe(id, () => {
        for (const scenario of scenarios) {
          const tries = traits.parallel && RACES_IN_PARALLEL.includes(scenario.id) ? TRIES : 1;
          test(scenario.id, () => playWithRetries(cluster ?? failWith('the cluster did not open'), scenario, tries));
        }
      });
    }
  });
}
