import type { RunEvent } from './events.ts';

/** Hears events in order, each once; several at a time when they were appended together. */
export type LogListener = (batch: readonly RunEvent[]) => void;

interface Subscriber {
  readonly listener: LogListener;
  /** Index of the first event that it has not heard. */
  next: number;
}

/**
 * The events of one run, append-only. Begins with `run-started`, ends with
 * `run-ended`; time never goes back in it.
 */
export class RunLog {
  readonly #events: RunEvent[] = [];
  readonly #subscribers = new Set<Subscriber>();

  /** Live view: grows as the run goes on. */
  get events(): readonly RunEvent[] {
    return this.#events;
  }

  get ended(): boolean {
    return this.#events.at(-1)?.type === 'run-ended';
  }

  /**
   * Adds events as one batch: all of them or, if one does not fit, none.
   *
   * @throws RangeError when an event cannot follow what is there. What a listener throws is thrown on after all
   * listeners have heard the batch.
   */
  append(...batch: readonly RunEvent[]): void {
    let last = this.#events.at(-1);
    for (const event of batch) {
      checkFollows(last, event);
      last = event;
    }
    for (const event of batch) this.#events.push(event);
    this.#notify();
  }

  /**
   * `listener` hears at once what there is from index `from` on (0: everything),
   * and then whatever is appended, until the returned disposer is called.
   */
  subscribe(listener: LogListener, from: number = 0): () => void {
    const subscriber = { listener, next: from };
    this.#subscribers.add(subscriber);
    this.#deliver(subscriber);
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  #notify(): void {
    const failures: unknown[] = [];
    for (const subscriber of [...this.#subscribers]) {
      try {
        this.#deliver(subscriber);
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Marks as heard before the call: a listener may append, which delivers again from within. */
  #deliver(subscriber: Subscriber): void {
    if (!this.#subscribers.has(subscriber) || subscriber.next >= this.#events.length) return;
    const batch = this.#events.slice(subscriber.next);
    subscriber.next = this.#events.length;
    subscriber.listener(batch);
  }
}

function checkFollows(last: RunEvent | undefined, event: RunEvent): void {
  if (!Number.isSafeInteger(event.at) || event.at < 0) {
    throw new RangeError(`${event.type} is stamped ${event.at}; expected whole microseconds since the run began.`);
  }
  if (last === undefined) return checkFirst(event);
  if (last.type === 'run-ended') {
    throw new RangeError(`${event.type} at ${event.at} µs comes after the run's end at ${last.at} µs; drop it.`);
  }
  if (event.type === 'run-started') throw new RangeError('A second run-started; begin a new log for a new run.');
  if (event.at < last.at) {
    throw new RangeError(`${event.type} at ${event.at} µs comes after ${last.type} at ${last.at} µs: time went back.`);
  }
}

function checkFirst(event: RunEvent): void {
  if (event.type !== 'run-started') {
    throw new RangeError(`A log begins with run-started; found ${event.type}.`);
  }
}
