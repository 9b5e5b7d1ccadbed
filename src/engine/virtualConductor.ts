/**
 * The conductor on a virtual clock: a discrete-event simulation around real
 * Postgres. It takes the next event, sets the clock, lets one session run until
 * it is done or waits, and repeats. The clock is whole microseconds and moves
 * only here, so the same requests give the same run on every machine.
 */
import type { Backend } from './backend.ts';
import type { Clock } from './clock.ts';
import type { Conductor, IdleListener, Job } from './conductor.ts';
import { eventLoopTurn } from './eventLoop.ts';
import * as schedules from './schedule.ts';
import type { Actor, EngineEvent, Policy, ReaderEvent, Schedule } from './schedule.ts';
import { Turns } from './turns.ts';

const SECOND = 1_000_000;

/** What a run wants to know of, and decides. */
export interface Driver {
  /** Resolves when the reader's code has said all that it has to say at this moment; undefined when it already has. */
  readonly quiet: () => Promise<void> | undefined;
  readonly policy: Policy;
  /** An actor moves that was chosen among several. */
  readonly onChoice: (choice: Actor) => void;
  /** A backend has begun to wait, or waits for something else. */
  readonly onWait: () => void;
  /** All that happens at this moment has happened. True when it has asked the observer, whose answer comes first. */
  readonly beforeAdvance: () => boolean;
  /** Nothing can happen any more. */
  readonly onStuck: () => void;
  /** The policy asked for what cannot be. */
  readonly onError: (error: Error) => void;
}

export class VirtualConductor implements Conductor {
  readonly clock: Clock = { now: () => this.#now, epochMs: Date.UTC(2026, 0, 1) };
  readonly #turns: Turns;
  #now = 0;
  #schedule: Schedule = schedules.EMPTY;
  readonly #actions = new Map<number, () => void>();
  /** Jobs without latency: set-up, the observer, resets. They take no time and come first. */
  readonly #immediate: Job[] = [];
  #driver: Driver | undefined;
  /** Who was chosen to move and has not moved yet, because something was due before. */
  #chosen: Actor | undefined;
  #pumping = false;
  #stopped: Error | undefined;

  constructor(onFatal: (error: Error) => void) {
    this.#turns = new Turns(onFatal);
  }

  /** Whether anything is planned, or can happen by itself. */
  get hasEvents(): boolean {
    return this.#schedule.events.length > 0 || this.#engineEvents().length > 0;
  }

  add(backend: Backend, idle: IdleListener): void {
    if (this.#stopped === undefined) this.#turns.backends.set(backend, idle);
    else backend.dispose(this.#stopped);
  }

  run(backend: Backend, message: Uint8Array, output: (bytes: Uint8Array) => void): Promise<boolean> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    const job: Job = { backend, message, output, done: Promise.withResolvers() };
    this.#immediate.push(job);
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
    this.#turns.stop(error, this.#immediate.splice(0));
  }

  /** Begins a run, on the next whole second but nine. Returns the clock's time at its start. */
  begin(driver: Driver): number {
    if (this.#driver !== undefined) throw new Error('a run is under way');
    this.#driver = driver;
    this.#now = (Math.floor(this.#now / SECOND) + 10) * SECOND;
    this.wake();
    return this.#now;
  }

  /** Ends the run: what it had planned does not happen. */
  end(): void {
    this.#driver = undefined;
    this.#schedule = schedules.EMPTY;
    this.#actions.clear();
    this.#chosen = undefined;
  }

  /** Plans an event of the reader's code. Returns its id, for `cancel`. */
  at(time: number, key: number, actor: Actor, action: () => void): number {
    const id = this.#schedule.nextId;
    this.#schedule = schedules.add(this.#schedule, time, key, actor);
    this.#actions.set(id, action);
    this.wake();
    return id;
  }

  cancel(id: number): void {
    this.#schedule = schedules.remove(this.#schedule, id);
    this.#actions.delete(id);
  }

  async #pump(): Promise<void> {
    for (;;) {
      await (this.#driver?.quiet() ?? eventLoopTurn());
      // A run that has begun meanwhile waits for its cell's first words.
      if (this.#driver?.quiet() !== undefined) continue;
      if (this.#stopped !== undefined) return;
      const job = this.#immediate.shift();
      if (job !== undefined) await this.#takeImmediate(job);
      else if (!(await this.#next()) && this.#rest()) return;
    }
  }

  /** Ends the pump, unless something came while the last look was on its way. In one go: a wake-up in between would be lost. */
  #rest(): boolean {
    const isIdle = this.#immediate.length === 0 && !this.hasEvents;
    if (isIdle) this.#pumping = false;
    return isIdle;
  }

  /** Lets the next event happen. False when there is none. */
  async #next(): Promise<boolean> {
    const driver = this.#driver;
    const first = schedules.nextOf(this.#schedule.events[0], this.#engineEvents(), this.#now);
    if (first === undefined) {
      driver?.onStuck();
      return false;
    }
    // What sessions do by themselves before anybody can move is nobody's choice.
    if ('engine' in first) return this.#happen(first.engine);
    const reader = await this.#choose(first.reader);
    // While the policy thought, the run may have ended or something without latency come.
    if (driver !== this.#driver || this.#immediate.length > 0 || reader === undefined) return true;
    const next = schedules.nextOf(reader, this.#engineEvents(), this.#now);
    return next !== undefined && this.#happen('engine' in next ? next.engine : next.reader);
  }

  async #happen(event: EngineEvent | ReaderEvent): Promise<boolean> {
    if (this.#advances(event.at)) return true;
    if ('backend' in event) await this.#resume(event.backend);
    else this.#act(event);
    return true;
  }

  /**
   * For a run in which nobody can move: lets time go on to the timers of idle
   * sessions, one of which may end a transaction that others wait for. False
   * when that changes nothing.
   */
  passIdleTime(): boolean {
    for (let due = this.#turns.nextIdleTimer(); due !== Infinity; due = this.#turns.nextIdleTimer()) {
      if (!this.#advances(due)) continue;
      this.wake();
      return true;
    }
    return false;
  }

  /** Sets the clock. True when something has to be done first, at the present moment or on the way. */
  #advances(to: number): boolean {
    if (to > this.#now && this.#driver?.beforeAdvance()) return true;
    for (let due = this.#turns.nextIdleTimer(); due <= to && due !== Infinity; due = this.#turns.nextIdleTimer()) {
      this.#now = Math.max(this.#now, due);
      for (const backend of this.#turns.expireIdleTimers(this.#now)) this.#immediate.push(this.#turns.idleJob(backend));
      if (this.#immediate.length > 0) return true;
    }
    this.#now = Math.max(this.#now, to);
    return false;
  }

  /** The reader's event that comes next: the first one of the actor that the policy chooses. */
  async #choose(first: ReaderEvent): Promise<ReaderEvent | undefined> {
    const actors = schedules.actorsOf(this.#schedule);
    if (this.#driver === undefined || actors.length < 2) return first;
    try {
      this.#chosen ??= await this.#driver.policy(actors);
      return this.#schedule.events.find(({ actor }) => actor === this.#chosen);
    } catch (error) {
      this.#driver?.onError(error as Error);
      return undefined;
    }
  }

  #act({ id, actor }: ReaderEvent): void {
    if (this.#chosen !== undefined) this.#driver?.onChoice(actor);
    this.#chosen = undefined;
    const action = this.#actions.get(id);
    this.cancel(id);
    action?.();
  }

  async #resume(index: number): Promise<void> {
    const [backend] = [...this.#turns.backends].find(([, idle]) => idle.index === index) ?? [];
    if (backend === undefined) return;
    await this.#take(this.#turns.waiting.get(backend) ?? this.#turns.idleJob(backend));
  }

  /** Outside a run a statement takes a microsecond, so that what came later bears a later time. */
  async #takeImmediate(job: Job): Promise<void> {
    if (this.#driver === undefined) this.#now += 1;
    await this.#take(job);
  }

  async #take(job: Job): Promise<void> {
    await this.#turns.take(job);
    if (job.backend.isWaiting) this.#driver?.onWait();
  }

  /**
   * Backends that wait, longest first, then idle ones that have news. Idle timers
   * are no events: most are nothing (see `#advances`).
   */
  #engineEvents(): EngineEvent[] {
    const events: EngineEvent[] = [];
    for (const backend of this.#turns.waiting.keys()) {
      events.push({ at: backend.canResume ? this.#now : backend.deadline, backend: this.#indexOf(backend) });
    }
    for (const [backend, { index }] of this.#turns.backends) {
      if (this.#turns.hasNews(backend)) events.push({ at: this.#now, backend: index });
    }
    return events.filter(({ at }) => at !== Infinity);
  }

  #indexOf(backend: Backend): number {
    return this.#turns.backends.get(backend)?.index ?? Number.NaN;
  }
}
