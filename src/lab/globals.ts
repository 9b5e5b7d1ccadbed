/** The clock and the dice of a cell's realm, taken over by the run. */
import { currentLab } from './context.ts';
import type { LabHost, Timer } from './host.ts';

type Call = (...values: unknown[]) => unknown;

/** What is replaced; `globalThis` has all of it. `queueMicrotask` stays as it is: microtasks take no time. */
export interface GlobalScope {
  Date: DateConstructor;
  setTimeout: unknown;
  clearTimeout: unknown;
  setInterval: unknown;
  clearInterval: unknown;
  readonly Math: { random: () => number };
  readonly performance: { now: () => number };
  readonly crypto: { randomUUID: unknown };
}

/**
 * Lets `Date`, `performance.now`, timers, `Math.random` and `crypto.randomUUID`
 * follow the run's clock and seed, after `setHost`. A timer's callback runs as
 * the customer who set it. Returns what restores everything.
 */
export function installGlobals(scope: GlobalScope, host: LabHost): () => void {
  const uuids = host.random('crypto.randomUUID');
  const undo = [
    ...replaceTimers(scope, host),
    replace(scope, 'Date', dateOf(scope.Date, host)),
    replace(scope.Math, 'random', host.random('Math.random')),
    replace(scope.performance, 'now', () => host.now() / 1000),
    replace(scope.crypto, 'randomUUID', () => uuidOf(uuids)),
  ];
  return () => {
    for (const restore of undo.toReversed()) restore();
  };
}

/** Keeps the property's descriptor: some are inherited, some are accessors. */
function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  });
  return () => {
    if (before) Object.defineProperty(target, name, before);
    else Reflect.deleteProperty(target, name);
  };
}

function dateOf(real: DateConstructor, host: LabHost): DateConstructor {
  const now = (): number => Math.floor(host.dateNow());
  const proxy: DateConstructor = new Proxy(real, {
    // `new Date()` alone asks for the time; a subclass keeps its prototype.
    construct: (target, values, newTarget: new () => object) =>
      Reflect.construct(
        target,
        values.length === 0 ? [now()] : values,
        newTarget === proxy ? target : newTarget,
      ) as Date,
    apply: (target) => new target(now()).toString(),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
  return proxy;
}

function replaceTimers(scope: GlobalScope, host: LabHost): (() => void)[] {
  const timers = new Timers(host);
  const clear = (id: unknown): void => timers.clear(id);
  return [
    replace(scope, 'setTimeout', (call: Call, delay?: unknown, ...values: unknown[]) =>
      timers.start(call, delay, values),
    ),
    replace(scope, 'setInterval', (call: Call, delay?: unknown, ...values: unknown[]) =>
      timers.start(call, delay, values, true),
    ),
    replace(scope, 'clearTimeout', clear),
    replace(scope, 'clearInterval', clear),
  ];
}

class Timers {
  readonly #host: LabHost;
  readonly #running = new Map<number, Timer & { stop(): void }>();
  #lastId = 0;

  constructor(host: LabHost) {
    this.#host = host;
  }

  /** As in a browser: an id that is a number, and at least 1 ms between the calls of an interval. */
  start(call: Call, delay: unknown, values: readonly unknown[], repeats = false): number {
    const id = ++this.#lastId;
    const milliseconds = Math.max(repeats ? 1 : 0, Number(delay) || 0);
    this.#arm(id, Math.round(milliseconds * 1000), repeats, () => call(...values));
    return id;
  }

  clear(id: unknown): void {
    const timer = this.#running.get(Number(id));
    timer?.cancel();
    timer?.stop();
    this.#running.delete(Number(id));
  }

  #arm(id: number, microseconds: number, repeats: boolean, call: () => void): void {
    const { tracker } = currentLab();
    const customer = tracker.current();
    const timer = this.#host.startTimer(microseconds, customer);
    const stopped = Promise.withResolvers<boolean>();
    this.#running.set(id, {
      ...timer,
      due: timer.due,
      cancel: () => timer.cancel(),
      stop: () => stopped.resolve(true),
    });
    const over = Promise.race([timer.due.then(() => false), stopped.promise]);
    void tracker.track(customer, { kind: 'timer', session: null }, over).then((cleared) => {
      if (cleared) return;
      if (repeats) this.#arm(id, microseconds, repeats, call);
      else this.#running.delete(id);
      call();
    });
  }
}

/** RFC 9562, version 4. */
function uuidOf(random: () => number): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const digit = Math.floor(random() * 16);
    return (place === 'x' ? digit : (digit & 3) | 8).toString(16);
  });
}
