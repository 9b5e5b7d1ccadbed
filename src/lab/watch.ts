import { describeStuck } from './describeStuck.ts';
import type { LabHost, SessionReport } from './host.ts';
import { LabError, RaceError } from './labError.ts';
import type { SessionLedger } from './sessionLedger.ts';
import type { Tracker } from './tracker.ts';

interface Scope {
  readonly kind: string;
  readonly reject: (error: Error) => void;
}

/** Ends what can never end, with an error that says who waits for whom. */
export class Watch {
  /** Ends the watching. */
  readonly dispose: () => void;
  readonly #tracker: Tracker;
  readonly #sessions: SessionLedger;
  #scope: Scope | undefined;

  constructor(host: LabHost, tracker: Tracker, sessions: SessionLedger) {
    this.#tracker = tracker;
    this.#sessions = sessions;
    this.dispose = host.onStuck((reports) => this.#stuck(reports));
  }

  /**
   * Runs a race, a queue or a script: one at a time, for customers are numbered from 0 in each.
   *
   * @throws LabError BUSY; RaceError STUCK when nothing can happen any more.
   */
  guard<T>(kind: string, work: () => Promise<T>): Promise<T> {
    if (this.#scope) return Promise.reject(busy(kind, this.#scope.kind));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const scope = { kind, reject };
    this.#scope = scope;
    const over = promise.finally(() => {
      this.#scope = undefined;
      this.#tracker.dismiss();
    });
    const tracked = this.#tracker.track(null, { kind: 'race', session: null }, over);
    Promise.try(work).then(resolve, reject);
    return tracked;
  }

  #stuck(reports: readonly SessionReport[]): void {
    const error = new RaceError('STUCK', describeStuck(this.#tracker.customers(), this.#sessions.leases, reports));
    if (this.#scope) this.#scope.reject(error);
    else this.#tracker.abandon(error);
  }
}

function busy(kind: string, running: string): LabError {
  return new LabError('BUSY', `${kind}: expected nothing else to go on; a ${running} has not ended. Await it first.`);
}
