/** What both conductors do with backends: start jobs, resume them, and keep account of who waits. */
import type { Backend } from './backend.ts';
import type { IdleListener, Job } from './conductor.ts';
import { syncMessage } from './wire.ts';

export class Turns {
  readonly backends = new Map<Backend, IdleListener>();
  /** Jobs that wait in their backend for a lock or a latch, in the order in which they came. */
  readonly waiting = new Map<Backend, Job>();
  readonly #onFatal: (error: Error) => void;

  /** @param onFatal told when a backend dies in a way that takes the cluster with it. */
  constructor(onFatal: (error: Error) => void) {
    this.#onFatal = onFatal;
  }

  /** Starts a job, or resumes it where it waits. Resolves when it is done or waits (again). */
  async take(job: Job): Promise<void> {
    const { backend, message, output } = job;
    // It ended between the moment when this was planned and now.
    if (backend.hasExited) return job.done.resolve(false);
    try {
      const resumes = this.waiting.get(backend) === job;
      const end = await (resumes ? backend.resume() : backend.start(message, output));
      if (end === 'waiting') {
        this.waiting.set(backend, job);
        return;
      }
      this.waiting.delete(backend);
      if (end === 'exited') this.backends.delete(backend);
      job.done.resolve(end === 'done');
    } catch (error) {
      this.waiting.delete(backend);
      job.done.reject(error as Error);
      this.#onFatal(error as Error);
    }
  }

  /** Whether an idle backend has to act by itself on SIGTERM or NOTIFY. */
  hasNews(backend: Backend): boolean {
    return !this.waiting.has(backend) && !backend.hasExited && backend.hasNews;
  }

  /** When the next timer of an idle backend is due, or Infinity. */
  nextIdleTimer(): number {
    const idle = [...this.backends.keys()].filter((backend) => !this.waiting.has(backend));
    return Math.min(Infinity, ...idle.map((backend) => backend.deadline));
  }

  /** Fires what is due at idle backends. Returns those that have to act on it. */
  expireIdleTimers(now: number): Backend[] {
    return [...this.backends.keys()].filter(
      (backend) => !this.waiting.has(backend) && backend.deadline <= now && backend.expireIdleTimer(),
    );
  }

  /** A pass of an idle backend through its main loop. */
  idleJob(backend: Backend): Job {
    const idle = this.backends.get(backend);
    const done = Promise.withResolvers<boolean>();
    done.promise.then(
      (alive) => alive || idle?.onExit(),
      () => {},
    );
    return { backend, message: syncMessage(), output: idle?.onOutput ?? (() => {}), done };
  }

  /** Rejects everything, among it what has not begun, and ends all backends. */
  stop(error: Error, ready: readonly Job[]): void {
    for (const job of [...ready, ...this.waiting.values()]) {
      job.done.promise.catch(() => {});
      job.done.reject(error);
    }
    this.waiting.clear();
    for (const backend of this.backends.keys()) backend.dispose(error);
    this.backends.clear();
  }
}
