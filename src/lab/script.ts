import type { QueryResult, Row } from '../engine/types.ts';
import { Client, loanOf } from './client.ts';
import { currentLab, type Lab } from './context.ts';
import { isDatabaseError, LabError } from './labError.ts';
import { checkStep, describeStep } from './checkStep.ts';

/** What a step must do. What is left out is not checked, except that it must not fail. */
export interface Expected {
  /** Whether it waits for a lock. A step that waits ends later, when another lets it. */
  readonly waits?: boolean;
  /** SQLSTATE that it fails with. */
  readonly code?: string;
  readonly rowCount?: number;
  /** The rows in order; columns that are left out are not compared. */
  readonly rows?: readonly Row[];
}

/** Who does what: `['T1', 'SELECT ...']`, with values, with what is expected, or with both. */
export type Step =
  | readonly [session: string, sql: string]
  | readonly [session: string, sql: string, values: readonly unknown[]]
  | readonly [session: string, sql: string, expected: Expected]
  | readonly [session: string, sql: string, values: readonly unknown[], expected: Expected];

/** What a step did. `result` or `error` is there when it has ended. */
export interface StepResult {
  /** 1-based. */
  readonly step: number;
  readonly session: string;
  readonly sql: string;
  waited: boolean;
  result: QueryResult | null;
  error: (Error & { readonly code: string }) | null;
}

/**
 * Runs a schedule of two or more sessions: each step is sent when the one before
 * it has ended or is known to wait for a lock. A step of a session that still
 * waits is sent when that wait is over. The sessions are customers 0, 1, ... in
 * the log, in the order in which they first appear.
 *
 * @throws LabError UNEXPECTED_STEP when a step does not do what the script says;
 *   RaceError STUCK when a session waits for ever (virtual clock).
 */
export function script(steps: readonly Step[]): Promise<StepResult[]> {
  const lab = currentLab();
  return lab.watch.guard('script', async () => {
    const player = new ScriptPlayer(lab, steps);
    try {
      while (!player.done) await player.next();
      return await player.finish();
    } finally {
      await player.close();
    }
  });
}

/** A script that is played step by step. */
export class ScriptPlayer {
  readonly results: StepResult[] = [];
  readonly #lab: Lab;
  readonly #steps: readonly Step[];
  readonly #customers: ReadonlyMap<string, number>;
  readonly #clients = new Map<string, Client>();
  /** The statement of each session whose end has not been looked at. */
  readonly #open = new Map<string, Promise<void>>();

  constructor(lab: Lab, steps: readonly Step[]) {
    this.#lab = lab;
    this.#steps = steps;
    this.#customers = new Map([...new Set(steps.map(([session]) => session))].map((name, index) => [name, index]));
    for (const customer of this.#customers.values()) lab.tracker.join(customer);
  }

  /** Whether every step has been sent. */
  get done(): boolean {
    return this.results.length === this.#steps.length;
  }

  /** Sends the next step, and looks whether that let others go on. @throws LabError UNEXPECTED_STEP */
  async next(): Promise<StepResult> {
    const step = this.#steps[this.results.length];
    if (!step) throw new LabError('BAD_ARGUMENT', 'script: there is no step left.');
    await this.#end(step[0]);
    const { sql, values, expected } = readStep(step);
    const result = { step: this.results.length + 1, session: step[0], sql, waited: false, result: null, error: null };
    this.results.push(result);
    await this.#send(result, values, expected);
    await this.#collect();
    return result;
  }

  /** Waits for the last of them. */
  async finish(): Promise<StepResult[]> {
    await Promise.all(this.#open.values());
    return this.results;
  }

  /** Closes the sessions, and rolls back what they left open. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.end()));
    for (const customer of this.#customers.values()) this.#lab.tracker.leave(customer);
  }

  async #send(result: StepResult, values: readonly unknown[], expected: Expected): Promise<void> {
    const client = await this.#client(result.session);
    const ended = this.#run(client, result, values).then(() => checkStep(result, expected));
    // A mismatch of a step that waited comes to light when somebody awaits the step.
    ended.catch(() => undefined);
    this.#open.set(result.session, ended);
    result.waited = await this.#waits(client);
    if (!result.waited) await this.#end(result.session);
    if (result.waited === expected.waits || expected.waits === undefined) return;
    const found = result.waited ? 'that it waits for a lock' : 'that it ended without waiting';
    throw new LabError(
      'UNEXPECTED_STEP',
      `${describeStep(result)}: expected waits: ${expected.waits}; found ${found}.`,
    );
  }

  async #run(client: Client, into: StepResult, values: readonly unknown[]): Promise<void> {
    try {
      into.result = await client.query(into.sql, values);
    } catch (error) {
      if (!isDatabaseError(error)) throw error;
      into.error = error;
    }
  }

  /** Takes in what the last step let go on, before the next is sent. */
  async #collect(): Promise<void> {
    for (const session of [...this.#open.keys()]) {
      const client = this.#clients.get(session);
      if (client && !(await this.#waits(client))) await this.#end(session);
    }
  }

  /** @throws what the session's last statement did that nobody expected. */
  async #end(session: string): Promise<void> {
    const ended = this.#open.get(session);
    this.#open.delete(session);
    await ended;
  }

  async #waits(client: Client): Promise<boolean> {
    const { connection } = loanOf(client);
    const { host } = this.#lab;
    if (!connection) return false;
    if (!host.untilWaiting) throw new LabError('BAD_ARGUMENT', 'script: this host cannot tell who waits for a lock.');
    return host.untilWaiting(connection.session);
  }

  async #client(session: string): Promise<Client> {
    const found = this.#clients.get(session);
    if (found) return found;
    const client = new Client();
    this.#clients.set(session, client);
    await this.#lab.tracker.run(this.#customers.get(session) ?? null, () => client.connect());
    return client;
  }
}

function readStep(step: Step): { sql: string; values: readonly unknown[]; expected: Expected } {
  const [, sql, third, fourth] = step;
  const hasValues = (given: typeof third): given is readonly unknown[] => Array.isArray(given);
  if (hasValues(third)) return { sql, values: third, expected: fourth ?? {} };
  return { sql, values: [], expected: third ?? {} };
}
