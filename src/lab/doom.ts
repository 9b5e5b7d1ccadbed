/** A worker that will die before it commits, as a crashed process does: without `finally`, without an answer. */
import type { TransactionStatus } from '../events/events.ts';

const COMMIT = /^\s*(commit|end)\b/i;
const BEGIN = /^\s*(begin|start\s+transaction)\b/i;

export class Doom {
  readonly died: Promise<void>;
  readonly #die: () => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.died = promise;
    this.#die = () => resolve(undefined);
  }

  /** Whether the statement would commit: then the worker is dead, and the statement is never sent. */
  strikes(text: string, status: TransactionStatus): boolean {
    const commits = status === 'I' ? !BEGIN.test(text) : COMMIT.test(text);
    if (commits) this.#die();
    return commits;
  }
}
