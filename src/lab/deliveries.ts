import type { MessageSettled } from '../events/events.ts';
import type { Lab } from './context.ts';

export type Fate = MessageSettled['fate'];

/** A message as a worker gets it. */
export interface Message {
  /** The business key: the same in every delivery. */
  readonly id: string;
  /** 0-based place among all messages. */
  readonly number: number;
  /** 1 for the first delivery. */
  readonly delivery: number;
}

/** A queue's memory: what is ready, what is out and comes back, who waits. */
export class Deliveries {
  readonly #lab: Lab;
  readonly #visibility: number;
  readonly #ready: Message[];
  readonly #waiting: ((message: Message | null) => void)[] = [];
  #open: number;

  /** `visibilityMs`: when a message comes back that was not acknowledged. */
  constructor(lab: Lab, ids: readonly string[], visibilityMs: number) {
    this.#lab = lab;
    this.#visibility = Math.round(visibilityMs * 1000);
    this.#ready = ids.map((id, number) => ({ id, number, delivery: 1 }));
    this.#open = ids.length;
  }

  /** The next message for a worker; null when all are settled for good. */
  next(worker: number): Promise<Message | null> {
    const { promise, resolve } = Promise.withResolvers<Message | null>();
    const message = this.#ready.shift();
    if (message !== undefined || this.#open === 0) resolve(message ?? null);
    else this.#waiting.push(resolve);
    return this.#lab.tracker.track(worker, { kind: 'message', session: null }, promise);
  }

  /** The message is done with. */
  close(): void {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve(null);
  }

  /** The message comes back. */
  comeBack(message: Message): void {
    void this.#lab.host.startTimer(this.#visibility).due.then(() => {
      const again = { ...message, delivery: message.delivery + 1 };
      const resolve = this.#waiting.shift();
      if (resolve) resolve(again);
      else this.#ready.push(again);
    });
  }
}
