/**
 * Which customer runs now? Browsers have no AsyncLocalStorage, so the lab tells
 * from its own promises:
 *
 * 1. What awaits a promise of the lab runs as the customer of that promise. The
 *    settling microtasks are laid as `enter, every continuation, leave`: nothing
 *    else can run between them.
 * 2. Other code (after an `await` of the reader's own async function, say) runs
 *    as the one customer who *can* run: the last to be resumed, or who awaits
 *    nothing of the lab. With two candidates the answer is null, not a guess.
 *
 * The one thing that can deceive rule 2 is a customer who waits for a promise of
 * the lab and a foreign one at once (`Promise.race([barrier, sleep(5)])`).
 * What is bound to a customer (`turn.pool`, its clients) needs no rule.
 */
export type Customer = number | null;

/** What a customer waits for. */
export interface Operation {
  readonly kind: 'query' | 'sleep' | 'connection' | 'message' | 'timer' | 'race';
  readonly session: number | null;
}

interface Pending extends Operation {
  readonly reject: (error: unknown) => void;
}

export class Tracker {
  /** Whose continuation runs; undefined between continuations. */
  #direct: Customer | undefined = undefined;
  #last: Customer = null;
  /** What each party waits for. Null is the cell itself, outside its customers. */
  readonly #parties = new Map<Customer, Set<Pending>>([[null, new Set()]]);

  /** Who runs now; null for the cell itself, and when it cannot be known for certain. */
  current(): Customer {
    if (this.#direct !== undefined) return this.#direct;
    const candidates = new Set<Customer>();
    if (this.#parties.has(this.#last)) candidates.add(this.#last);
    for (const [customer, pending] of this.#parties) if (pending.size === 0) candidates.add(customer);
    const [only = null] = candidates;
    return candidates.size === 1 ? only : null;
  }

  join(customer: number): void {
    this.#parties.set(customer, new Set());
  }

  leave(customer: number): void {
    this.#parties.delete(customer);
  }

  /** Forgets all customers, also those who will never end. */
  dismiss(): void {
    for (const [customer] of this.customers()) this.leave(customer);
  }

  /** Customers who have not ended, in order, with what they wait for. */
  customers(): [customer: number, waitsFor: readonly Operation[]][] {
    const entries = [...this.#parties].map(([customer, pending]) => [customer, [...pending]] as const);
    return entries.flatMap(([customer, pending]) => (customer === null ? [] : [[customer, pending]]));
  }

  /** Whether the cell itself waits for something. */
  get cellWaits(): boolean {
    return this.#of(null).size > 0;
  }

  /** Calls `body` as the customer. */
  run<T>(customer: Customer, body: () => T): T {
    const before = this.#direct;
    this.#direct = customer;
    this.#last = customer;
    try {
      return body();
    } finally {
      this.#direct = before;
    }
  }

  /** The promise that the reader gets for `work`: until it settles the customer is known to wait. */
  track<T>(customer: Customer, operation: Operation, work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const pending: Pending = { ...operation, reject: (error) => settle(() => reject(error)) };
    const settle = (how: () => void): void => {
      this.#of(customer).delete(pending);
      this.#resume(customer, how);
    };
    this.#of(customer).add(pending);
    work.then((value) => settle(() => resolve(value)), pending.reject);
    return promise;
  }

  /** As `track`, for work made of the lab's own steps, which are tracked themselves. */
  bind<T>(customer: Customer, work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    work.then(
      (value) => this.#resume(customer, () => resolve(value)),
      (error: unknown) => this.#resume(customer, () => reject(error)),
    );
    return promise;
  }

  /** Rejects whatever the cell itself waits for: it can never come. */
  abandon(error: Error): void {
    for (const pending of [...this.#of(null)]) pending.reject(error);
  }

  #resume(customer: Customer, settle: () => void): void {
    this.#last = customer;
    queueMicrotask(() => (this.#direct = customer));
    settle();
    queueMicrotask(() => (this.#direct = undefined));
  }

  /** A customer who has left counts as the cell: what it forgot to await settles later. */
  #of(customer: Customer): Set<Pending> {
    return this.#parties.get(customer) ?? this.#parties.get(null) ?? new Set();
  }
}
