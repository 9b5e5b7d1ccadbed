import { currentLab, type Lab } from './context.ts';
import { count, noCounts, runCustomers, sizeOf, withPool, type Counts } from './customers.ts';
import { Deliveries, type Fate, type Message } from './deliveries.ts';
import { Doom } from './doom.ts';
import { LabError } from './labError.ts';
import type { Pool, PoolOptions } from './pool.ts';
import { randomFrom } from './rng.ts';
import { takeTurn, type Turn, type Verdict } from './turn.ts';

/** How many messages are delivered twice, and why. */
export interface Redelivery {
  /** Handled and committed, but the acknowledgement is lost. */
  readonly ackLost?: number;
  /** The worker dies when it is about to commit: nothing of it stays. */
  readonly diesBeforeCommit?: number;
  /** The worker dies when all is committed, before it acknowledges. */
  readonly diesAfterCommit?: number;
}

export interface QueueOptions {
  /** How many, or their ids (business keys). The run's parameter `messages` when left out. */
  readonly messages?: number | readonly string[];
  /** Workers side by side; the run's parameter `workers` when left out. */
  readonly workers?: number;
  /** A number is split between lost acknowledgements and deaths after commit. None when left out. */
  readonly redeliver?: number | Redelivery;
  /** After how many milliseconds a message that was not acknowledged comes back; 100 when left out. */
  readonly visibilityMs?: number;
  /** After how many deliveries a message that always fails is given up; 10 when left out. */
  readonly maxDeliveries?: number;
  /** As for a race. */
  readonly pool?: Pool | PoolOptions;
}

export interface QueueResult extends Counts {
  readonly messages: number;
  readonly deliveries: number;
  /** Ids of messages that were given up. */
  readonly givenUp: readonly string[];
  readonly milliseconds: number;
}

export type Handler = (message: Message, turn: Turn) => Promise<Verdict> | Verdict;

export interface Queue {
  /**
   * Lets the workers handle all messages. An error of the database that escapes
   * the handler counts as a crash: the message comes back.
   *
   * @throws as `race`.
   */
  consume(handler: Handler): Promise<QueueResult>;
}

/** A queue that delivers each message at least once, on the run's clock. The seed says which ones twice. */
export function queue(options: QueueOptions): Queue {
  const lab = currentLab();
  return { consume: (handler) => lab.watch.guard('queue', () => new Consumption(lab, options, handler).run()) };
}

class Consumption {
  readonly #lab: Lab;
  readonly #options: QueueOptions;
  readonly #handler: Handler;
  readonly #ids: readonly string[];
  readonly #fates: ReadonlyMap<string, Fate>;
  readonly #deliveries: Deliveries;
  readonly #counts = noCounts();
  readonly #givenUp: string[] = [];
  #delivered = 0;

  constructor(lab: Lab, options: QueueOptions, handler: Handler) {
    this.#lab = lab;
    this.#options = options;
    this.#handler = handler;
    this.#ids = idsOf(lab, options);
    this.#fates = drawFates(lab, this.#ids, options.redeliver ?? 0);
    this.#deliveries = new Deliveries(lab, this.#ids, options.visibilityMs ?? 100);
  }

  async run(): Promise<QueueResult> {
    const lab = this.#lab;
    const workers = sizeOf(lab, 'queue', this.#options.workers, 'workers');
    const startedAt = lab.host.now();
    let milliseconds = 0;
    await withPool(lab, this.#options.pool, async (pool) => {
      await runCustomers(lab, workers, (worker) => this.#work(worker, pool));
      milliseconds = (lab.host.now() - startedAt) / 1000;
    });
    const [messages, deliveries, givenUp] = [this.#ids.length, this.#delivered, this.#givenUp];
    return { ...this.#counts, messages, deliveries, givenUp, milliseconds };
  }

  async #work(worker: number, pool: Pool): Promise<void> {
    for (;;) {
      const message = await this.#deliveries.next(worker);
      if (message === null) return;
      this.#settle(worker, message, await this.#handle(worker, pool, message));
    }
  }

  async #handle(worker: number, pool: Pool, message: Message): Promise<Fate> {
    const { id, delivery } = message;
    const planned = delivery === 1 ? (this.#fates.get(id) ?? 'acknowledged') : 'acknowledged';
    this.#delivered += 1;
    this.#lab.host.emit({ type: 'message-delivered', session: null, customer: worker, message: id, delivery });
    const doom = planned === 'died-before-commit' ? new Doom() : undefined;
    if (doom) this.#lab.dooms.set(worker, doom);
    const settled = await takeTurn(this.#lab, worker, pool, (turn) => this.#handler(message, turn), doom?.died);
    count(this.#counts, settled);
    return settled.failure === null ? planned : 'died-before-commit';
  }

  #settle(worker: number, message: Message, fate: Fate): void {
    const { id, delivery } = message;
    this.#lab.dooms.delete(worker);
    if (fate.startsWith('died')) this.#bury(worker);
    this.#lab.host.emit({ type: 'message-settled', session: null, customer: worker, message: id, delivery, fate });
    const last = delivery >= (this.#options.maxDeliveries ?? 10);
    if (fate !== 'acknowledged' && !last) return this.#deliveries.comeBack(message);
    if (fate === 'died-before-commit') this.#givenUp.push(id);
    this.#deliveries.close();
  }

  /** The process is gone: its connections close, what it awaited is forgotten, and another takes its place. */
  #bury(worker: number): void {
    for (const lease of [...this.#lab.sessions.leases]) if (lease.customer === worker) lease.close();
    this.#lab.tracker.join(worker);
  }
}

function idsOf(lab: Lab, { messages }: QueueOptions): readonly string[] {
  if (typeof messages === 'object') return messages;
  const number = sizeOf(lab, 'queue', messages, 'messages');
  return Array.from({ length: number }, (_unused, index) => `order-${index + 1}`);
}

function drawFates(lab: Lab, ids: readonly string[], redeliver: number | Redelivery): ReadonlyMap<string, Fate> {
  const { ackLost = 0, diesBeforeCommit = 0, diesAfterCommit = 0 } = splitOf(redeliver);
  const fates: Fate[] = [
    ...Array<Fate>(ackLost).fill('ack-lost'),
    ...Array<Fate>(diesBeforeCommit).fill('died-before-commit'),
    ...Array<Fate>(diesAfterCommit).fill('died-after-commit'),
  ];
  if (fates.length > ids.length) {
    const most = `expected at most ${ids.length}, one for each message`;
    throw new LabError('BAD_ARGUMENT', `queue: ${most}, to be redelivered; found ${fates.length}.`);
  }
  const drawn = randomFrom(lab.streams('queue/fates')).sample(ids, fates.length);
  return new Map(drawn.map((id, index) => [id, fates[index] as Fate]));
}

function splitOf(redeliver: number | Redelivery): Redelivery {
  if (typeof redeliver !== 'number') return redeliver;
  return { ackLost: Math.ceil(redeliver / 2), diesAfterCommit: Math.floor(redeliver / 2) };
}
