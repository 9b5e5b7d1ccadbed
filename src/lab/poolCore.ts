import { Client } from './client.ts';
import { Connection } from './connection.ts';
import type { Lab } from './context.ts';
import type { Timer } from './host.ts';
import { ConnectionError } from './labError.ts';
import type { Customer } from './tracker.ts';

interface Waiter {
  readonly customer: Customer;
  readonly resolve: (client: Client) => void;
  readonly reject: (error: unknown) => void;
  timeout: Timer | undefined;
}

/** The connections of a pool and the line in front of them; what pg-pool does, step by step. */
export class PoolCore {
  readonly max: number;
  readonly #lab: Lab;
  readonly #timeoutMs: number;
  readonly #idle: Connection[] = [];
  readonly #waiting: Waiter[] = [];
  readonly #stopReclaiming: () => void;
  /** Open connections, and those on their way. */
  #total = 0;
  #ended: PromiseWithResolvers<undefined> | undefined;

  constructor(lab: Lab, max: number, timeoutMs: number) {
    this.#lab = lab;
    this.max = max;
    this.#timeoutMs = timeoutMs;
    this.#stopReclaiming = lab.sessions.onShortage(() => this.#closeOneIdle());
  }

  get total(): number {
    return this.#total;
  }

  get idle(): number {
    return this.#idle.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  connect(customer: Customer): Promise<Client> {
    if (this.#ended) return Promise.reject(new Error('Cannot use a pool after calling end on the pool'));
    const connection = this.#takeIdle();
    if (connection) return Promise.resolve(this.#lend(connection, customer));
    return this.#total < this.max ? this.#open(customer) : this.#standInLine(customer);
  }

  end(): Promise<void> {
    if (this.#ended) return Promise.reject(new Error('Called end on pool more than once'));
    this.#ended = Promise.withResolvers<undefined>();
    for (const waiter of this.#waiting.splice(0)) {
      waiter.timeout?.cancel();
      waiter.reject(new Error('Cannot use a pool after calling end on the pool'));
    }
    this.#stopReclaiming();
    for (const connection of this.#idle.splice(0)) void this.#close(connection);
    this.#endIfEmpty();
    return this.#ended.promise;
  }

  /** Like pg-pool, the connection that was used last. One whose session was terminated meanwhile is dropped. */
  #takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (!connection?.ended) return connection;
      void this.#close(connection);
    }
  }

  async #open(customer: Customer): Promise<Client> {
    this.#total += 1;
    try {
      return this.#lend(new Connection(this.#lab, await this.#lab.sessions.open()), customer);
    } catch (error) {
      this.#total -= 1;
      this.#serve();
      this.#endIfEmpty();
      throw error;
    }
  }

  #lend(connection: Connection, customer: Customer): Client {
    const giveBack = (_client: Client, destroy: boolean): void => this.#takeBack(connection, destroy);
    return new Client({ connection, customer, giveBack });
  }

  #takeBack(connection: Connection, destroy: boolean): void {
    if (destroy || this.#ended || connection.ended) {
      void this.#close(connection);
    } else {
      this.#idle.push(connection);
    }
    this.#serve();
  }

  #standInLine(customer: Customer): Promise<Client> {
    const { promise, resolve, reject } = Promise.withResolvers<Client>();
    const waiter: Waiter = { customer, resolve, reject, timeout: undefined };
    const ahead = this.#waiting.push(waiter) - 1;
    this.#lab.host.emit({ type: 'connection-wait', session: null, customer, ahead });
    if (this.#timeoutMs > 0) this.#limit(waiter);
    return promise;
  }

  #limit(waiter: Waiter): void {
    waiter.timeout = this.#lab.host.startTimer(Math.round(this.#timeoutMs * 1000), waiter.customer);
    void waiter.timeout.due.then(() => {
      const place = this.#waiting.indexOf(waiter);
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      this.#lab.host.emit({ type: 'connection-timeout', session: null, customer: waiter.customer });
      waiter.reject(new ConnectionError('connection-timeout', 'timeout exceeded when trying to connect'));
    });
  }

  /**
   * Gives a connection to the first in line. The customer goes on in a turn of
   * its own, not in the turn of the one who released: see `tracker.ts`.
   */
  #serve(): void {
    if (this.#waiting.length === 0) return;
    const connection = this.#takeIdle();
    if (!connection && this.#total >= this.max) return;
    const waiter = this.#waiting.shift();
    if (!waiter) return;
    waiter.timeout?.cancel();
    const client = connection ? Promise.resolve(this.#lend(connection, waiter.customer)) : this.#open(waiter.customer);
    const turn = this.#lab.host.startTimer(0, waiter.customer).due;
    client.then((lent) => turn.then(() => waiter.resolve(lent)), waiter.reject);
  }

  #closeOneIdle(): boolean {
    const connection = this.#idle.shift();
    if (connection) void this.#close(connection);
    return connection !== undefined;
  }

  async #close(connection: Connection): Promise<void> {
    this.#total -= 1;
    await connection.close();
    this.#endIfEmpty();
  }

  #endIfEmpty(): void {
    if (this.#ended && this.#total === 0) this.#ended.resolve(undefined);
  }
}
