/**
 * One session's statements, in the order in which they came, whichever client
 * sent them. A statement is handed to the session only when it is its turn, so
 * what a client that went away had queued never runs.
 */
import { DatabaseError, EngineError } from './errors.ts';
import type { Session } from './types.ts';

/** Whoever a statement belongs to; compared by identity. */
export type Owner = object;

interface Job {
  readonly owner: Owner;
  run(session: Session): Promise<void>;
  drop(error: EngineError): void;
}

/** Ends the transaction and gives back what a transaction's end does not: session-level advisory locks. */
const ROLL_BACK = 'ROLLBACK; SELECT pg_advisory_unlock_all()';

/** How long a cancelled statement is given before it is cancelled again, in milliseconds. */
const CANCEL_AGAIN_MS = 50;

export class Lane {
  readonly #session: () => Session;
  readonly #waiting: Job[] = [];
  /** Clients that ran something since the session was last rolled back. */
  readonly #users = new Set<Owner>();
  #running: { readonly owner: Owner; readonly settled: Promise<void> } | null = null;
  #holds = 0;
  #quiet = false;

  /** @param session the session now: a reset may replace the object. */
  constructor(session: () => Session) {
    this.#session = session;
  }

  /** While the server itself rolls back; its notices are nobody's. */
  get quiet(): boolean {
    return this.#quiet;
  }

  /** Runs it when its turn comes. Rejects with what it throws, or with the reason why it was dropped. */
  submit<T>(owner: Owner, run: (session: Session) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ owner, run: (session) => run(session).then(resolve, reject), drop: reject });
      this.#next();
    });
  }

  /** Starts nothing, and drops what waits, until `release`: a reset is at work. */
  hold(): void {
    this.#holds += 1;
    const reason = 'The cluster was reset before this statement could run.';
    this.#drop(() => true, new EngineError('SESSION_ENDED', reason));
  }

  release(): void {
    this.#users.clear();
    this.#goOn();
  }

  /** Cancels what this client runs here, drops what it queued, and rolls back what it may have open. */
  async evict(owner: Owner, cancel: (session: Session) => Promise<unknown>): Promise<void> {
    this.#drop(
      (job) => job.owner === owner,
      new EngineError('SESSION_ENDED', 'The client of this statement has gone.'),
    );
    if (!this.#users.has(owner)) return;
    this.#holds += 1;
    try {
      while (this.#running?.owner === owner) {
        await cancel(this.#session());
        // Again, if it is not over: a cancel that comes before the statement starts is lost.
        await Promise.race([this.#running?.settled, sleep(CANCEL_AGAIN_MS)]);
      }
      await this.#rollBack();
    } finally {
      this.#goOn();
    }
  }

  async #rollBack(): Promise<void> {
    await this.#running?.settled;
    this.#users.clear();
    this.#quiet = true;
    try {
      while (this.#session().state !== 'ended' && !(await isRolledBack(this.#session())));
    } finally {
      this.#quiet = false;
    }
  }

  #goOn(): void {
    this.#holds -= 1;
    this.#next();
  }

  #next(): void {
    if (this.#running !== null || this.#holds > 0) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#users.add(job.owner);
    const settled = job.run(this.#session()).finally(() => {
      this.#running = null;
      this.#next();
    });
    this.#running = { owner: job.owner, settled };
  }

  #drop(matches: (job: Job) => boolean, error: EngineError): void {
    const dropped = this.#waiting.filter(matches);
    const kept = this.#waiting.filter((job) => !matches(job));
    this.#waiting.splice(0, this.#waiting.length, ...kept);
    for (const job of dropped) job.drop(error);
  }
}

/** False when a cancel that was meant for the statement before has hit the roll-back. */
async function isRolledBack(session: Session): Promise<boolean> {
  try {
    await session.exec(ROLL_BACK);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '57014') return false;
    // A session that was terminated holds nothing any more.
    if (session.state === 'ended' && !(error instanceof EngineError && error.code === 'CLUSTER_FAILED')) return true;
    throw error;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
