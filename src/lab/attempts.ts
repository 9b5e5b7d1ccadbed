import type { LabHost } from './host.ts';
import type { Customer } from './tracker.ts';

interface Attempt {
  readonly attempt: number;
  retries: number;
}

/** Numbers attempts through the whole run, and knows which one each customer is in. */
export class Attempts {
  readonly #host: LabHost;
  readonly #current = new Map<Customer, Attempt>();
  #next = 0;
  #retries = 0;

  constructor(host: LabHost) {
    this.#host = host;
  }

  /** Retries so far, in the whole run. */
  get retries(): number {
    return this.#retries;
  }

  begin(customer: number): number {
    const attempt = this.#next++;
    this.#current.set(customer, { attempt, retries: 0 });
    this.#host.emit({ type: 'attempt', session: null, customer, attempt });
    return attempt;
  }

  end(customer: number): void {
    this.#current.delete(customer);
  }

  /** `times`: which retry it is, when the customer is in no attempt that counts them. */
  retried(customer: Customer, reason: string, times = 1): void {
    const current = this.#current.get(customer);
    this.#retries += 1;
    if (current) current.retries += 1;
    const attempt = current?.attempt ?? null;
    this.#host.emit({ type: 'retry', session: null, customer, attempt, reason, times: current?.retries ?? times });
  }
}
