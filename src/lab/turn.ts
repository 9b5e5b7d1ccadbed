import { toLogged } from '../engine/toLogged.ts';
import type { LoggedValue, Outcome } from '../events/events.ts';
import type { Lab } from './context.ts';
import { failureCode, LabError } from './labError.ts';
import { bindPool, type Pool } from './pool.ts';
import { randomFrom, type Random } from './rng.ts';
import { sleepAs } from './sleep.ts';

/** What a customer has in hand for one attempt. */
export interface Turn {
  /** 0-based. */
  readonly customer: number;
  /** Number of the attempt, from 0, over all customers; a second race of the same run counts on. */
  readonly attempt: number;
  /** The race's pool, bound to this customer. */
  readonly pool: Pool;
  /** A stream of random numbers of this customer's own. */
  readonly random: Random;
  /** The lab's `sleep`, bound to this customer. */
  sleep(milliseconds: number): Promise<void>;
  /** Says that the attempt begins anew, and why: `version` for a lost optimistic update. */
  retried(reason: string): void;
  /** Adds to what the log says about the attempt's outcome. */
  note(fields: Readonly<Record<string, unknown>>): void;
}

/** How an attempt ended: `true` and nothing mean confirmed, `false` rejected. */
// A body without `return` has the type Promise<void>.
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type
export type Verdict = Outcome | boolean | undefined | void;

export interface Settled {
  readonly outcome: Outcome;
  /** SQLSTATE, `connection-timeout`, `connection-ended` or `worker-died`; null unless failed. */
  readonly failure: string | null;
}

/** Thrown into the lab, never into the reader's code. */
class WorkerDied extends Error {}

const OUTCOMES: readonly string[] = ['confirmed', 'oversold', 'rejected', 'duplicate', 'gave-up', 'failed'];

/**
 * One attempt of a customer. A failure of the database or the connection is its
 * outcome; `death` ends it whatever the body still does.
 *
 * @throws any other error of the body.
 */
export async function takeTurn(
  lab: Lab,
  customer: number,
  pool: Pool,
  body: (turn: Turn) => Promise<Verdict> | Verdict,
  death?: Promise<void>,
): Promise<Settled> {
  const attempt = lab.attempts.begin(customer);
  const notes: Record<string, unknown> = {};
  const turn = turnOf(lab, customer, attempt, pool, notes);
  const settled = await settle(lab, turn, body, notes, death);
  lab.attempts.end(customer);
  const note = noteOf(lab, notes);
  lab.host.emit({ type: 'outcome', session: null, customer, attempt, outcome: settled.outcome, note });
  return settled;
}

function noteOf({ host }: Lab, notes: Readonly<Record<string, unknown>>): Record<string, LoggedValue> {
  const epochMs = host.dateNow() - host.now() / 1000;
  return Object.fromEntries(Object.entries(notes).map(([name, value]) => [name, toLogged(value, epochMs)]));
}

function turnOf(lab: Lab, customer: number, attempt: number, pool: Pool, notes: Record<string, unknown>): Turn {
  return {
    customer,
    attempt,
    pool: bindPool(pool, customer),
    random: randomFrom(lab.streams(`customer/${customer}`)),
    sleep: (milliseconds) => sleepAs(lab, customer, milliseconds),
    retried: (reason) => lab.attempts.retried(customer, reason),
    note: (fields) => void Object.assign(notes, fields),
  };
}

async function settle(
  lab: Lab,
  turn: Turn,
  body: (turn: Turn) => Promise<Verdict> | Verdict,
  notes: Record<string, unknown>,
  death: Promise<void> | undefined,
): Promise<Settled> {
  try {
    const verdict = lab.tracker.run(turn.customer, async () => body(turn));
    return { outcome: outcomeOf(await (death ? Promise.race([verdict, diesOf(death)]) : verdict)), failure: null };
  } catch (error) {
    const failure = error instanceof WorkerDied ? 'worker-died' : failureCode(error);
    if (failure === null) throw error;
    Object.assign(notes, { code: failure, error: error instanceof Error ? error.message : String(error) });
    return { outcome: 'failed', failure };
  }
}

async function diesOf(death: Promise<void>): Promise<never> {
  await death;
  throw new WorkerDied('The worker died before it committed.');
}

function outcomeOf(verdict: Verdict): Outcome {
  if (verdict === undefined || verdict === true) return 'confirmed';
  if (verdict === false) return 'rejected';
  if (OUTCOMES.includes(verdict as string)) return verdict as Outcome;
  const found = `found ${JSON.stringify(verdict)}`;
  throw new LabError('BAD_ARGUMENT', `race: expected the body to return one of ${OUTCOMES.join(', ')}; ${found}.`);
}
