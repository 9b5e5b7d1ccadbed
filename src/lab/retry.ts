import { currentLab, type Lab } from './context.ts';
import { failureCode } from './labError.ts';
import { randomFrom, type Random } from './rng.ts';
import { sleepAs } from './sleep.ts';
import type { Customer } from './tracker.ts';

/** Milliseconds before a retry: a number is drawn between half and one and a half of it; `retry` counts from 1. */
export type Backoff = number | ((retry: number, random: Random) => number);

export interface RetryOptions {
  /** SQLSTATEs to try again on, for example `['40001', '40P01']`; none when left out. */
  readonly retryOn?: readonly string[];
  /** How often at most; without end when left out. */
  readonly maxRetries?: number;
  readonly backoffMs?: Backoff;
}

/**
 * Calls `body` until it does not fail with one of the codes. It gets the number
 * of retries so far, and has to begin anew each time: read again, decide again.
 *
 * @throws the last error, when it is another or the retries are used up.
 */
export function retry<T>(body: (retries: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const lab = currentLab();
  const customer = lab.tracker.current();
  return lab.tracker.bind(customer, retryAs(lab, customer, body, options));
}

export async function retryAs<T>(
  lab: Lab,
  customer: Customer,
  body: (retries: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { retryOn = [], maxRetries = Infinity, backoffMs } = options;
  for (let retries = 0; ; retries++) {
    try {
      return await lab.tracker.run(customer, () => body(retries));
    } catch (error) {
      const code = failureCode(error);
      if (code === null || !retryOn.includes(code) || retries >= maxRetries) throw error;
      lab.attempts.retried(customer, code, retries + 1);
    }
    if (backoffMs !== undefined) await sleepAs(lab, customer, backoff(lab, customer, backoffMs, retries + 1));
  }
}

function backoff(lab: Lab, customer: Customer, rule: Backoff, times: number): number {
  const random = randomFrom(lab.streams(`backoff/${customer ?? 'cell'}`));
  return typeof rule === 'number' ? rule * (0.5 + random.number()) : rule(times, random);
}
