import { DatabaseError } from '../engine/errors.ts';
import type { LabHost } from './host.ts';
import type { Customer } from './tracker.ts';

/** Who holds a session now. */
export interface Lease {
  readonly session: number;
  readonly customer: Customer;
  /** Closes the connection, as the death of its process does. */
  readonly close: () => void;
}

/** The host's sessions: which are free, and who holds the others. A server's `max_connections`. */
export class SessionLedger {
  readonly leases = new Set<Lease>();
  readonly total: number;
  readonly #host: LabHost;
  readonly #free: number[];
  readonly #renewals = new Set<Promise<void>>();
  readonly #reclaimers = new Set<() => boolean>();

  constructor(host: LabHost) {
    this.#host = host;
    this.total = host.sessions;
    this.#free = Array.from({ length: host.sessions }, (_unused, session) => session);
  }

  /**
   * The free session with the lowest number. When all are taken, a pool gives up
   * a connection that lies idle.
   *
   * @throws DatabaseError 53300, as Postgres does, when none can be had.
   */
  async open(): Promise<number> {
    for (;;) {
      const session = this.#free.shift();
      if (session !== undefined) return session;
      if (this.#renewals.size === 0 && ![...this.#reclaimers].some((reclaim) => reclaim())) throw this.#tooMany();
      await Promise.race(this.#renewals);
    }
  }

  /** Closes the connection: what it left undone is rolled back. Resolves when the session is as new, or lost. */
  close(session: number): Promise<void> {
    const renewal = this.#renew(session).finally(() => this.#renewals.delete(renewal));
    this.#renewals.add(renewal);
    return renewal;
  }

  /** `reclaim` closes one idle connection and tells whether there was one. Returns its end. */
  onShortage(reclaim: () => boolean): () => void {
    this.#reclaimers.add(reclaim);
    return () => this.#reclaimers.delete(reclaim);
  }

  async #renew(session: number): Promise<void> {
    if (!(await (this.#host.renew?.(session) ?? this.#discard(session)))) return;
    this.#free.push(session);
    this.#free.sort((a, b) => a - b);
  }

  /** For a host that cannot renew a session; one that is gone stays lost. */
  async #discard(session: number): Promise<boolean> {
    const from = { customer: null, line: null };
    try {
      await this.#host.query(session, 'ROLLBACK', undefined, from);
      await this.#host.query(session, 'DISCARD ALL', undefined, from);
      return true;
    } catch {
      return false;
    }
  }

  #tooMany(): DatabaseError {
    return new DatabaseError('sorry, too many clients already', {
      severity: 'FATAL',
      code: '53300',
      hint: `Expected at most ${this.total} connections in all, over every pool and client of this run.`,
    });
  }
}
