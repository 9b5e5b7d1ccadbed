import type { Cluster, LockWait } from '../engine/types.ts';

/** Statements that run longer than this are looked at, in ms; also the pause between two looks. */
const POLL_MS = 5;

export interface Watched {
  readonly session: number;
  /** Called with each new wait, and with null when it is over. */
  readonly onWait: (wait: LockWait | null) => void;
}

interface Entry extends Watched {
  readonly since: number;
  wait: LockWait | null;
}

/** Asks the server who waits, every few milliseconds and never twice at once, while a statement takes long. */
export class LockPoller {
  readonly #cluster: Cluster;
  readonly #sleep: (milliseconds: number) => Promise<void>;
  readonly #now: () => number;
  readonly #entries = new Map<number, Entry>();
  #polling = false;

  /** `now` in milliseconds. Both are the machine's own, whatever the cell's globals say. */
  constructor(cluster: Cluster, now: () => number, sleep: (milliseconds: number) => Promise<void>) {
    this.#cluster = cluster;
    this.#now = now;
    this.#sleep = sleep;
  }

  /** Watches a statement until the returned function is called. */
  watch(watched: Watched): () => void {
    const entry: Entry = { ...watched, since: this.#now(), wait: null };
    this.#entries.set(watched.session, entry);
    void this.#poll();
    return () => {
      this.#entries.delete(watched.session);
      if (entry.wait) entry.onWait(null);
    };
  }

  /** True when the session waits for a lock, asked of the server; false as soon as it runs nothing. */
  async untilWaiting(session: number): Promise<boolean> {
    const entry = this.#entries.get(session);
    while (entry && this.#entries.get(session) === entry) {
      const wait = this.#find(await this.#cluster.waits(), session);
      if (this.#entries.get(session) !== entry) return false;
      this.#tell(entry, wait);
      if (wait) return true;
      await this.#sleep(1);
    }
    return false;
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      while (this.#entries.size > 0) {
        await this.#sleep(POLL_MS);
        await this.#look();
      }
    } finally {
      this.#polling = false;
    }
  }

  async #look(): Promise<void> {
    const old = [...this.#entries.values()].filter(({ since }) => this.#now() - since >= POLL_MS);
    if (old.length === 0) return;
    const waits = await this.#cluster.waits().catch(() => []);
    for (const entry of old) {
      if (this.#entries.get(entry.session) === entry) this.#tell(entry, this.#find(waits, entry.session));
    }
  }

  #tell(entry: Entry, wait: LockWait | null): void {
    const same = entry.wait?.lockType === wait?.lockType && `${entry.wait?.blockedBy}` === `${wait?.blockedBy}`;
    if (same) return;
    if (entry.wait) entry.onWait(null);
    entry.wait = wait;
    if (wait) entry.onWait(wait);
  }

  #find(waits: readonly LockWait[], session: number): LockWait | null {
    const pid = this.#cluster.sessions[session]?.pid;
    return waits.find((wait) => wait.pid === pid) ?? null;
  }
}
