import type { QueryResult } from '../engine/types.ts';
import type { TransactionStatus } from '../events/events.ts';
import type { Lab } from './context.ts';
import { ConnectionError, endsSession } from './labError.ts';
import type { Customer } from './tracker.ts';
import { statusAfter, statusAfterError } from './transactionStatus.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly customer: Customer;
  readonly line: number | null;
}

type Answer = QueryResult | QueryResult[];

/** One open connection to a session. Its statements run in the order they were made, as in node-postgres. */
export class Connection {
  readonly session: number;
  readonly #lab: Lab;
  readonly #line: (() => Promise<void>)[] = [];
  #busy = false;
  #status: TransactionStatus = 'I';
  #ended = false;

  constructor(lab: Lab, session: number) {
    this.#lab = lab;
    this.session = session;
  }

  /** As far as the client knows. */
  get status(): TransactionStatus {
    return this.#status;
  }

  /** The session is gone; every further statement fails. */
  get ended(): boolean {
    return this.#ended;
  }

  /** @throws DatabaseError; ConnectionError when the session has ended. */
  query(statement: Statement): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#line.push(() => this.#send(statement).then(resolve, reject));
    this.#pump();
    return promise;
  }

  /** Closes it. Resolves when the session is as new, or lost. */
  close(): Promise<void> {
    this.#ended = true;
    return this.#lab.sessions.close(this.session);
  }

  #pump(): void {
    const next = this.#busy ? undefined : this.#line.shift();
    if (!next) return;
    this.#busy = true;
    void next().then(() => {
      this.#busy = false;
      this.#pump();
    });
  }

  async #send({ text, values, customer, line }: Statement): Promise<Answer> {
    if (this.#ended) throw notQueryable();
    try {
      const answer = await this.#lab.host.query(this.session, text, values, { customer, line });
      this.#status = statusAfter(this.#status, text, answer);
      return answer;
    } catch (error) {
      throw this.#failed(error, text);
    }
  }

  #failed(error: unknown, text: string): unknown {
    this.#status = statusAfterError(this.#status, text);
    if (!endsSession(error)) return error;
    this.#ended = true;
    return error instanceof Error && error.name === 'EngineError' ? notQueryable(error) : error;
  }
}

function notQueryable(cause?: unknown): ConnectionError {
  const text = 'Client has encountered a connection error and is not queryable';
  return new ConnectionError('connection-ended', text, { cause });
}
