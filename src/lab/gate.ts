import { eventLoopTurn } from '../engine/eventLoop.ts';

/**
 * Lets one promise settle in each turn of the event loop, in the order asked for,
 * so that what runs in a turn was resumed by one thing: what `Tracker` builds on.
 */
export class Gate {
  readonly #line: (() => void)[] = [];
  #open = true;

  /** Calls `settle` now, or in the next turn that is free. */
  pass(settle: () => void): void {
    this.#line.push(settle);
    if (this.#open) this.#next();
  }

  #next(): void {
    const settle = this.#line.shift();
    this.#open = settle === undefined;
    if (settle === undefined) return;
    settle();
    void eventLoopTurn().then(() => this.#next());
  }
}
