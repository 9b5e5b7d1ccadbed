/** A cluster without Postgres, for tests of what lies between threads: a statement does what its text says. */
import { DatabaseError, EngineError } from '../errors.ts';
import type {
  Cluster,
  Dispose,
  LockWait,
  Notice,
  Notification,
  QueryResult,
  Row,
  Session,
  SessionState,
} from '../types.ts';

export function resultOf(rows: Row[], command = 'SELECT'): QueryResult {
  return { command, rowCount: rows.length, rows, fields: [] };
}

/** What Postgres says of a statement that was cancelled. */
export function cancelled(): DatabaseError {
  return new DatabaseError('canceling statement due to user request', { severity: 'ERROR', code: '57014' });
}

interface Gate {
  open(result: QueryResult): void;
  break(error: Error): void;
}

/** Runs `wait` until it is let go or cancelled, `spin` for ever, `crash` and `fail` to an error, everything else at once. */
export class FakeSession implements Session {
  readonly index: number;
  pid: number;
  state: SessionState = 'idle';
  /** Every statement that reached the session. */
  readonly ran: string[] = [];
  failure: Error = new Error('fail');
  #gate: Gate | null = null;
  readonly #notices = new Set<(notice: Notice) => void>();
  readonly #notifications = new Set<(notification: Notification) => void>();

  constructor(index: number, pid = 100 + index) {
    this.index = index;
    this.pid = pid;
  }

  async query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    this.ran.push(text);
    if (this.state === 'ended') throw new EngineError('SESSION_ENDED', 'This session has ended.');
    return (await this.#run(text, values)) as QueryResult<R>;
  }

  async exec(sql: string): Promise<QueryResult[]> {
    return [await this.query(sql)];
  }

  /** Lets the waiting statement finish. */
  letGo(rows: Row[] = []): void {
    this.#gate?.open(resultOf(rows));
  }

  cancel(): boolean {
    this.#gate?.break(cancelled());
    return this.#gate !== null;
  }

  notice(message: string): void {
    for (const listener of this.#notices) listener({ severity: 'NOTICE', code: '00000', message });
  }

  notify(channel: string, payload: string): void {
    for (const listener of this.#notifications) listener({ channel, payload, processId: this.pid });
  }

  onNotice(listener: (notice: Notice) => void): Dispose {
    this.#notices.add(listener);
    return () => this.#notices.delete(listener);
  }

  onNotification(listener: (notification: Notification) => void): Dispose {
    this.#notifications.add(listener);
    return () => this.#notifications.delete(listener);
  }

  async #run(text: string, values: readonly unknown[] | undefined): Promise<QueryResult> {
    if (text === 'fail') throw this.failure;
    if (text === 'crash') throw new EngineError('CLUSTER_FAILED', 'WASM trapped.');
    if (text === 'spin') for (;;);
    if (text === 'uncloneable') return resultOf([{ value: () => 1 }]);
    if (text.startsWith('ROLLBACK')) this.notice('there is no transaction in progress');
    if (text === 'wait') return this.#wait();
    return resultOf([{ text, values }]);
  }

  async #wait(): Promise<QueryResult> {
    this.state = 'waiting';
    try {
      return await new Promise((resolve, reject) => {
        this.#gate = { open: resolve, break: reject };
      });
    } finally {
      this.state = 'idle';
      this.#gate = null;
    }
  }
}

export class FakeCluster implements Cluster {
  sessions: FakeSession[];
  readonly versions = { pglite: '0.0.0', postgres: '18.0' };
  closed = false;
  resets = 0;
  /** Resets wait for it. */
  resetGate: Promise<unknown> = Promise.resolve();

  constructor(count = 3) {
    this.sessions = Array.from({ length: count }, (_, index) => new FakeSession(index));
  }

  session(index: number): FakeSession {
    const session = this.sessions[index];
    if (session === undefined) throw new Error(`The test has no session ${index}.`);
    return session;
  }

  async waits(): Promise<LockWait[]> {
    const waiting = this.sessions.filter((session) => session.state === 'waiting');
    const lock = { lockType: 'tuple', mode: 'ShareLock', relation: null, page: 0, tuple: 1, transaction: null };
    return waiting.map(({ pid }) => ({ ...lock, pid, blockedBy: [], query: 'wait' }));
  }

  async cancel(session: Session): Promise<boolean> {
    return this.session(session.index).cancel();
  }

  /** Replaces every session by one with another pid. */
  async reset(): Promise<void> {
    this.resets += 1;
    for (const session of this.sessions) session.cancel();
    await this.resetGate;
    this.sessions = this.sessions.map(({ index, pid }) => new FakeSession(index, pid + 100));
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

/** Waits until it holds, for at most two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 2000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('What the test waits for did not come.');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
