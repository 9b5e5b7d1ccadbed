import type { QueryResult, Row } from '../engine/types.ts';
import type { Client } from './client.ts';
import { type QueryConfig } from './client.ts';
import { currentLab, type Lab } from './context.ts';
import { LabError } from './labError.ts';
import { PoolCore } from './poolCore.ts';
import type { Customer } from './tracker.ts';

export interface PoolOptions {
  /** Connections at most; all of the run's sessions when left out. node-postgres' own default is 10. */
  readonly max?: number;
  /** How long `connect()` waits in line, in milliseconds; 0 (the default) for ever. */
  readonly connectionTimeoutMillis?: number;
}

/** What a pool bound to a customer shares with the pool itself. */
interface Binding {
  readonly core: PoolCore;
  readonly customer: number;
}

/** @internal The same pool, as one customer sees it: what it does is that customer's for certain. */
export let bindPool: (pool: Pool, customer: number) => Pool;
/** @internal Whose pool it is; undefined when it is bound to nobody. */
export let customerOf: (pool: Pool) => number | undefined;

/**
 * Connections to share, in node-postgres' shape. They are opened when first
 * needed; who finds all of them out waits in line, first come first served.
 */
export class Pool {
  readonly #lab: Lab;
  readonly #core: PoolCore;
  readonly #customer: number | undefined;

  static {
    bindPool = (pool, customer) => new Pool({}, { core: pool.#core, customer });
    customerOf = (pool) => pool.#customer;
  }

  /** @throws LabError BAD_ARGUMENT when `max` is more than the run has sessions. */
  constructor(options: PoolOptions = {}, binding?: Binding) {
    this.#lab = currentLab();
    this.#core = binding?.core ?? new PoolCore(this.#lab, checkMax(this.#lab, options), timeoutOf(options));
    this.#customer = binding?.customer;
  }

  /**
   * A client of one's own until `release()`.
   *
   * @throws Error "timeout exceeded when trying to connect", as pg-pool, after `connectionTimeoutMillis` in line;
   *   DatabaseError 53300 when other pools hold all of the run's sessions.
   */
  connect(): Promise<Client> {
    return this.#connect(this.#customer ?? this.#lab.tracker.current());
  }

  /** One statement on whichever connection is free. Two calls may run on two connections: no transaction spans them. */
  query<R extends Row = Row>(statement: string | QueryConfig, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const customer = this.#customer ?? this.#lab.tracker.current();
    return this.#lab.tracker.bind(customer, this.#query<R>(customer, statement, values));
  }

  /** Takes no more customers, and resolves when all clients are back and closed. */
  end(): Promise<void> {
    const customer = this.#customer ?? this.#lab.tracker.current();
    return this.#lab.tracker.track(customer, { kind: 'connection', session: null }, this.#core.end());
  }

  /** Connections that are open. */
  get totalCount(): number {
    return this.#core.total;
  }

  /** Open connections that nobody holds. */
  get idleCount(): number {
    return this.#core.idle;
  }

  /** How many wait in line. */
  get waitingCount(): number {
    return this.#core.waiting;
  }

  #connect(customer: Customer): Promise<Client> {
    return this.#lab.tracker.track(customer, { kind: 'connection', session: null }, this.#core.connect(customer));
  }

  async #query<R extends Row>(
    customer: Customer,
    statement: string | QueryConfig,
    values: readonly unknown[] | undefined,
  ): Promise<QueryResult<R>> {
    const client = await this.#connect(customer);
    try {
      const result = await client.query<R>(statement, values);
      client.release();
      return result;
    } catch (error) {
      client.release(error instanceof Error ? error : true);
      throw error;
    }
  }
}

function checkMax(lab: Lab, { max = lab.host.sessions }: PoolOptions): number {
  if (Number.isInteger(max) && max >= 1 && max <= lab.host.sessions) return max;
  const most = `expected at most ${lab.host.sessions} connections in all, the sessions of this run`;
  throw new LabError('BAD_ARGUMENT', `Pool: ${most}, and at least 1; found max ${max}.`);
}

function timeoutOf({ connectionTimeoutMillis = 0 }: PoolOptions): number {
  if (connectionTimeoutMillis >= 0 && connectionTimeoutMillis < Infinity) return connectionTimeoutMillis;
  const found = `found ${connectionTimeoutMillis}`;
  throw new LabError('BAD_ARGUMENT', `Pool: expected connectionTimeoutMillis of 0 (none) or more; ${found}.`);
}
