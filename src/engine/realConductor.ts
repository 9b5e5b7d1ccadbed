/** The conductor on the machine's clock: sessions run when they can, in the order in which they became able to. */
import type { Backend, Turn } from './backend.ts';
import { realClock } from './clock.ts';
import type { Conductor, IdleListener, Job } from './conductor.ts';
import { syncMessage } from './wire.ts';

/** Longest time (ms) without a turn of the event loop, so that requests and cancels get in. */
const BREATH_MS = 4;
/** Longest delay of setTimeout. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export class RealConductor implements Conductor {
  readonly clock = realClock();
  readonly #onFatal: (error: Error) => void;
  readonly #backends = new Map<Backend, IdleListener>();
  /** Jobs that wait in their backend for a lock or a latch, in the order in which they came. */
  readonly #waiting = new Map<Backend, Job>();
  readonly #ready: Job[] = [];
  #pumping = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped: Error | undefined;

  /** @param onFatal told once when a backend dies in a way that takes the cluster with it. */
  constructor(onFatal: (error: Error) => void) {
    this.#onFatal = onFatal;
  }

  add(backend: Backend, idle: IdleListener): void {
    if (this.#stopped === undefined) this.#backends.set(backend, idle);
    else backend.dispose(this.#stopped);
  }

  run(backend: Backend, message: Uint8Array, output: (bytes: Uint8Array) => void): Promise<boolean> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    const job: Job = { backend, message, output, done: Promise.withResolvers() };
    this.#ready.push(job);
    this.#schedule();
    return job.done.promise;
  }

  wake(_backend: Backend): void {
    this.#schedule();
  }

  stop(error: Error): void {
    this.#stopped = error;
    clearTimeout(this.#timer);
    for (const job of [...this.#ready.splice(0), ...this.#waiting.values()]) {
      job.done.promise.catch(() => {});
      job.done.reject(error);
    }
    this.#waiting.clear();
    for (const backend of this.#backends.keys()) backend.dispose(error);
    this.#backends.clear();
  }

  #schedule(): void {
    if (this.#pumping || this.#stopped !== undefined) return;
    this.#pumping = true;
    void this.#pump();
  }

  async #pump(): Promise<void> {
    let breathed = performance.now();
    for (let job = this.#nextOrRest(); job !== undefined; job = this.#nextOrRest()) {
      await this.#turn(job);
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
    for (const job of this.#waiting.values()) if (job.backend.canResume) return job;
    const job = this.#ready.shift();
    if (job !== undefined) return job;
    for (const [backend, idle] of this.#backends) if (this.#needsAttention(backend)) return idleJob(backend, idle);
    return undefined;
  }

  /** An idle backend acts on SIGTERM, NOTIFY and its idle timeouts. */
  #needsAttention(backend: Backend): boolean {
    if (this.#waiting.has(backend) || backend.hasExited) return false;
    return backend.hasNews || backend.deadline <= this.clock.now();
  }

  async #turn(job: Job): Promise<void> {
    const { backend, message, output } = job;
    try {
      const isResumed = this.#waiting.get(backend) === job;
      const end = await (isResumed ? backend.resume() : backend.start(message, output));
      this.#record(job, end);
    } catch (error) {
      this.#waiting.delete(backend);
      job.done.reject(error as Error);
      this.#onFatal(error as Error);
    }
  }

  #record(job: Job, end: Turn): void {
    if (end === 'waiting') {
      this.#waiting.set(job.backend, job);
      return;
    }
    this.#waiting.delete(job.backend);
    if (end === 'exited') this.#backends.delete(job.backend);
    job.done.resolve(end === 'done');
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    if (this.#stopped !== undefined) return;
    const deadline = Math.min(Infinity, ...[...this.#backends.keys()].map((backend) => backend.deadline));
    if (deadline === Infinity) return;
    const delayMs = Math.max(0, Math.ceil((deadline - this.clock.now()) / 1000));
    this.#timer = setTimeout(() => this.#schedule(), Math.min(delayMs, MAX_DELAY_MS));
  }
}

function idleJob(backend: Backend, { onOutput, onExit }: IdleListener): Job {
  const done = Promise.withResolvers<boolean>();
  done.promise.then(
    (alive) => alive || onExit(),
    () => {},
  );
  return { backend, message: syncMessage(), output: onOutput, done };
}

/** Lets everything that has arrived for this thread in. `setTimeout` would cost four milliseconds. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
