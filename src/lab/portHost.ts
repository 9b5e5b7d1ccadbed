/** The lab's host in the cell's worker: the run's conductor sits behind a port, in lock step. */
import type { Unstamped } from '../events/events.ts';
import { unpackError } from '../engine/packError.ts';
import type { Port } from '../engine/port.ts';
import type { CellAction, FromCell, RunBegins, ToCell } from '../engine/runProtocol.ts';
import type { QueryResult, SessionReport } from '../engine/types.ts';
import { eventLoopTurn } from '../engine/eventLoop.ts';
import type { LabHost, Timer } from './host.ts';
import { seededStream } from './seededStream.ts';

interface Pending {
  readonly resolve: (results: QueryResult[]) => void;
  readonly reject: (error: Error) => void;
}

export class PortHost implements LabHost {
  readonly clock = 'virtual';
  readonly seed: number;
  readonly sessions: number;
  readonly parameters: LabHost['parameters'];
  readonly #port: Port<FromCell, ToCell>;
  readonly #epochMs: number;
  readonly #queries = new Map<number, Pending>();
  readonly #timers = new Map<number, () => void>();
  readonly #flags = new Map<number, (value: boolean) => void>();
  readonly #stuck = new Set<(sessions: readonly SessionReport[]) => void>();
  #actions: CellAction[] = [];
  #turnIsPlanned = false;
  #lastId = 0;
  #now = 0;

  /** Waits for the run to begin. What the cell's code asks for is sent from then on. */
  static async open(port: Port<FromCell, ToCell>): Promise<PortHost> {
    return new Promise((resolve) => {
      const stop = port.onMessage((message) => {
        if (message.type !== 'begin') return;
        stop();
        resolve(new PortHost(port, message));
      });
    });
  }

  private constructor(port: Port<FromCell, ToCell>, { seed, sessions, parameters, epochMs }: RunBegins) {
    this.#port = port;
    this.seed = seed;
    this.sessions = sessions;
    this.parameters = parameters;
    this.#epochMs = epochMs;
    port.onMessage((message) => this.#take(message));
  }

  now(): number {
    return this.#now;
  }

  dateNow(): number {
    return this.#epochMs + this.#now / 1000;
  }

  async query(
    session: number,
    text: string,
    values: readonly unknown[] | undefined,
    from: { readonly customer: number | null; readonly line: number | null },
  ): Promise<QueryResult | QueryResult[]> {
    const id = ++this.#lastId;
    const results = await new Promise<QueryResult[]>((resolve, reject) => {
      this.#queries.set(id, { resolve, reject });
      this.#push({ type: 'query', id, session, text, values, ...from });
    });
    return results.length === 1 ? (results[0] as QueryResult) : results;
  }

  startTimer(microseconds: number, customer: number | null = null): Timer {
    const id = ++this.#lastId;
    const due = new Promise<void>((resolve) => this.#timers.set(id, resolve));
    this.#push({ type: 'timer', id, microseconds, customer });
    return { due, cancel: () => this.#cancel(id) };
  }

  renew(session: number, customer: number | null = null): Promise<boolean> {
    return this.#ask((id) => ({ type: 'renew', id, session, customer }));
  }

  untilWaiting(session: number): Promise<boolean> {
    return this.#ask((id) => ({ type: 'until-waiting', id, session }));
  }

  emit(event: Unstamped): void {
    this.#push({ type: 'emit', event });
  }

  random(stream: string): () => number {
    return seededStream(this.seed, stream);
  }

  onStuck(listener: (sessions: readonly SessionReport[]) => void): () => void {
    this.#stuck.add(listener);
    return () => void this.#stuck.delete(listener);
  }

  /** Tells that the cell has ended: with null when it ended well, else with words for its reader. */
  end(message: string | null): void {
    this.#push({ type: 'end', message });
  }

  #ask(action: (id: number) => CellAction): Promise<boolean> {
    const id = ++this.#lastId;
    this.#push(action(id));
    return new Promise((resolve) => this.#flags.set(id, resolve));
  }

  #cancel(id: number): void {
    if (this.#timers.delete(id)) this.#push({ type: 'cancel-timer', id });
  }

  #take(message: ToCell): void {
    if (message.type === 'begin') return;
    this.#now = message.now;
    this.#deliver(message);
    this.#planTurn();
  }

  /** Also outside a turn: the cell's first words, and its last, come when its module is ready. */
  #push(action: CellAction): void {
    this.#actions.push(action);
    this.#planTurn();
  }

  #deliver(message: Exclude<ToCell, RunBegins>): void {
    switch (message.type) {
      case 'answer':
        return this.#queries.get(message.id)?.resolve(message.results);
      case 'error':
        return this.#queries.get(message.id)?.reject(unpackError(message.error));
      case 'due':
        this.#timers.get(message.id)?.();
        return void this.#timers.delete(message.id);
      case 'ready':
      case 'waits':
        this.#flags.get(message.id)?.(message.type === 'ready' || message.waits);
        return void this.#flags.delete(message.id);
      case 'stuck':
        for (const listener of this.#stuck) listener(message.sessions);
    }
  }

  /** The code that was resumed has had its say when a turn of the event loop has passed. */
  #planTurn(): void {
    if (this.#turnIsPlanned) return;
    this.#turnIsPlanned = true;
    void eventLoopTurn().then(() => {
      this.#turnIsPlanned = false;
      const actions = this.#actions;
      this.#actions = [];
      this.#port.postMessage({ type: 'turn', actions });
    });
  }
}
