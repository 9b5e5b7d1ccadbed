import type { QueryResult, Row } from '../engine/types.ts';
import { Connection } from './connection.ts';
import { currentLab, type Lab } from './context.ts';
import { LabError } from './labError.ts';
import type { Lease } from './sessionLedger.ts';
import type { Customer } from './tracker.ts';

/** A statement with its values, in node-postgres' object form. */
export interface QueryConfig {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** What a pool lends: internal, see `Client`. */
export interface Loan {
  readonly connection: Connection;
  readonly customer: Customer;
  readonly giveBack: (client: Client, destroy: boolean) => void;
}

/** @internal Who holds the client, and over which connection. */
export let loanOf: (client: Client) => { connection: Connection | undefined; customer: Customer };

/**
 * One connection, in node-postgres' shape. A pool's `connect()` gives one; with
 * `new Client()` and `connect()` it stands by itself.
 *
 * Unlike node-postgres' it is a new object each time a pool lends it, so that use
 * after `release()` is always found out.
 */
export class Client {
  readonly #lab: Lab;
  readonly #loan: Loan | undefined;
  #customer: Customer;
  #connection: Connection | undefined;
  #lease: Lease | undefined;
  #over = false;

  static {
    loanOf = (client) => ({ connection: client.#connection, customer: client.#customer });
  }

  constructor(loan?: Loan) {
    this.#lab = currentLab();
    this.#loan = loan;
    this.#customer = loan?.customer ?? null;
    if (loan) this.#attach(loan.connection);
  }

  /**
   * Opens the connection of a client that no pool lent.
   *
   * @throws DatabaseError 53300 when all of the run's connections are taken.
   */
  connect(): Promise<void> {
    const { tracker } = this.#lab;
    if (this.#connection || this.#over) {
      return Promise.reject(
        new LabError('BAD_ARGUMENT', 'Client has already been connected. You cannot reuse a client.'),
      );
    }
    this.#customer ??= tracker.current();
    return tracker.track(this.#customer, { kind: 'connection', session: null }, this.#open());
  }

  /**
   * Sends one statement. `values` stand for `$1`, `$2`, ...; without values
   * several statements may come in one text, and give an array of results.
   *
   * @throws DatabaseError with `code` (SQLSTATE), `detail`, `constraint`, ...
   */
  query<R extends Row = Row>(statement: string | QueryConfig, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const { text, values: bound } = typeof statement === 'string' ? { text: statement, values } : statement;
    const connection = this.#connection;
    if (!connection) return Promise.reject(this.#notConnected());
    const customer = this.#customer ?? this.#lab.tracker.current();
    const doom = customer === null ? undefined : this.#lab.dooms.get(customer);
    if (doom?.strikes(text, connection.status)) return new Promise<never>(() => undefined);
    const line = this.#lab.lineOf(new Error().stack ?? '');
    const answer = connection.query({ text, values: bound?.length ? bound : undefined, customer, line });
    const operation = { kind: 'query', session: connection.session } as const;
    return this.#lab.tracker.track(customer, operation, answer) as Promise<QueryResult<R>>;
  }

  /**
   * Gives the client back to its pool; `true` or an error closes the connection
   * instead. An open transaction stays open, as in node-postgres: whoever gets
   * the connection next is in it. The lab logs a warning.
   *
   * @throws Error of pg-pool's text when it was released before.
   */
  release(destroy: boolean | Error = false): void {
    if (!this.#loan) throw new LabError('BAD_ARGUMENT', 'release: this client came from no pool; end() closes it.');
    if (this.#over) throw new Error('Release called on client which has already been released to the pool.');
    this.#warnIfOpen(destroy !== false);
    this.#detach();
    this.#loan.giveBack(this, destroy !== false);
  }

  /** Closes the connection; what it left undone is rolled back. Of a pool's client: `release(true)`. */
  async end(): Promise<void> {
    const connection = this.#connection;
    if (this.#loan && !this.#over) return this.release(true);
    if (!connection) return;
    this.#detach();
    await this.#lab.tracker.track(this.#customer, { kind: 'connection', session: null }, connection.close());
  }

  async #open(): Promise<void> {
    this.#attach(new Connection(this.#lab, await this.#lab.sessions.open()));
  }

  #attach(connection: Connection): void {
    this.#connection = connection;
    this.#lease = { session: connection.session, customer: this.#customer, close: () => void this.end() };
    this.#lab.sessions.leases.add(this.#lease);
    this.#emit('connection-acquired');
  }

  #detach(): void {
    this.#emit('connection-released');
    if (this.#lease) this.#lab.sessions.leases.delete(this.#lease);
    this.#over = true;
    this.#connection = undefined;
  }

  #emit(type: 'connection-acquired' | 'connection-released'): void {
    this.#lab.host.emit({ type, session: this.#connection?.session ?? null, customer: this.#customer });
  }

  #warnIfOpen(closes: boolean): void {
    const connection = this.#connection;
    if (!connection || closes || connection.status === 'I' || connection.ended) return;
    const message =
      'A client was released in an open transaction: its locks stay, and whoever gets this connection next is in it. ' +
      'COMMIT or ROLLBACK before release().';
    this.#lab.host.emit({
      type: 'notice',
      session: connection.session,
      customer: this.#customer,
      severity: 'WARNING',
      message,
    });
  }

  #notConnected(): LabError {
    const text = this.#over
      ? 'query: this client has been released; its connection may serve somebody else. Get another with pool.connect().'
      : 'query: this client is not connected. Await connect() first.';
    return new LabError('CLIENT_RELEASED', text);
  }
}
