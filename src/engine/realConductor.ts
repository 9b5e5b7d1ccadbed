/** The conductor on the machine's clock: sessions run when they can, in the order in which they became able to. */
import type { Backend } from './backend.ts';
import { realClock } from './clock.ts';
import type { Conductor, IdleListener, Job } from './conductor.ts';
import { eventLoopTurn } from './eventLoop.ts';
import { Turns } from './turns.ts';

/** Longest time (ms) without a turn of the event loop, so that requests and cancels get in. */
const BREATH_MS = 4;
/** Longest delay of setTimeout. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export class RealConductor implements Conductor {
  readonly clock = realClock();
  readonly #turns: Turns;
  readonly #ready: Job[] = [];
  #pumping = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped: Error | undefined;

  /** @param onFatal told once when a backend dies in a way that takes the cluster with it. */
  constructor(onFatal: (error: Error) => void) {
    this.#turns = new Turns(onFatal);
  }

  add(backend: Backend, idle: IdleListener): void {
    if (this.#stopped === undefined) this.#turns.backends.set(backend, idle);
    else backend.dispose(this.#stopped);
  }

  run(backend: Backend, message: Uint8Array, output: (bytes: Uint8Array) => void): Promise<boolean> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    const job: Job = { backend, message, output, done: Promise.withResolvers() };
    this.#ready.push(job);
    this.wake();
    return job.done.promise;
  }

  wake(): void {
    if (this.#pumping || this.#stopped !== undefined) return;
    this.#pumping = true;
    void this.#pump();
  }

  stop(error: Error): void {
    this.#stopped = error;
    clearTimeout(this.#timer);
    this.#turns.stop(error, this.#ready.splice(0));
  }

  async #pump(): Promise<void> {
    let breathed = performance.now();
    for (let job = this.#nextOrRest(); job !== undefined; job = this.#nextOrRest()) {
      await this.#turns.take(job);
      if (performance.now() - breathed < BREATH_MS) continue;
      await eventLoopTurn();
      breathed = performance.now();
    }
  }

  /** Ends the pump when there is no job, in one go: a wake-up between the two would be lost. */
  #nextOrRest(): Job | undefined {
    const job = this.#stopped === undefined ? this.#next() : undefined;
    if (job !== undefined) return job;
    this.#pumping = false;
    this.#setTimer();
    return undefined;
  }

  /** Who waits and can go on comes before who has not begun: as if it had run at the moment of its wake-up. */
  #next(): Job | undefined {
    const { waiting, backends } = this.#turns;
    for (const job of waiting.values()) if (job.backend.canResume) return job;
    const job = this.#ready.shift();
    if (job !== undefined) return job;
    for (const backend of this.#turns.expireIdleTimers(this.clock.now()))
      this.#ready.push(this.#turns.idleJob(backend));
    for (const backend of backends.keys())
      if (this.#turns.hasNews(backend)) this.#ready.push(this.#turns.idleJob(backend));
    return this.#ready.shift();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    if (this.#stopped !== undefined) return;
    const deadline = Math.min(Infinity, ...[...this.#turns.backends.keys()].map((backend) => backend.deadline));
    if (deadline === Infinity) return;
    const delayMs = Math.max(0, Math.ceil((deadline - this.clock.now()) / 1000));
    this.#timer = setTimeout(() => this.wake(), Math.min(delayMs, MAX_DELAY_MS));
  }
}
