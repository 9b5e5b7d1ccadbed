/** A cluster in another thread, behind the same interface as one in this thread. */
import { Connection, clusterClosed } from './calls.ts';
import { explainRefusal } from './checkValues.ts';
import { EngineError } from './errors.ts';
import { fromEventTarget } from './port.ts';
import type { ServerPort } from './calls.ts';
import type { FromServer, SessionStatus, Welcome } from './protocol.ts';
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
  Versions,
} from './types.ts';

/** Connects to a cluster that is served at the port's other end, as `newPort()` of a handle gives it. */
export async function connectCluster(port: ServerPort | MessagePort): Promise<RemoteCluster> {
  return RemoteCluster.over(Connection.over(port instanceof MessagePort ? fromEventTarget(port) : port));
}

export class RemoteCluster implements Cluster {
  readonly sessions: readonly RemoteSession[];
  readonly versions: Versions;
  readonly #connection: Connection;

  private constructor(connection: Connection, welcome: Welcome) {
    this.#connection = connection;
    this.versions = welcome.versions;
    this.sessions = welcome.sessions.map((status) => new RemoteSession(connection, status));
  }

  static async over(connection: Connection): Promise<RemoteCluster> {
    const cluster = new RemoteCluster(connection, await connection.call('hello', {}));
    connection.onMessage((message) => cluster.#receive(message));
    return cluster;
  }

  waits(): Promise<LockWait[]> {
    return this.#connection.call('waits', {});
  }

  cancel(session: Session): Promise<boolean> {
    return this.#connection.call('cancel', { session: session.index });
  }

  async reset(): Promise<void> {
    await this.#connection.call('reset', {});
  }

  /** Closes the cluster for every client. A cluster that is gone is closed. */
  async close(): Promise<void> {
    if (this.#connection.ended !== null) return;
    await this.#connection.call('close', {});
    this.#connection.end(clusterClosed());
  }

  /** Leaves the cluster open for its other clients. What this client has running is cancelled, what it has open is rolled back. */
  disconnect(): void {
    this.#connection.tell({ type: 'goodbye' });
    this.#connection.end(new EngineError('CLUSTER_CLOSED', 'This client has disconnected from the cluster.'));
  }

  /** For whoever sees the worker die: every pending and later call rejects with this error. */
  fail(error: EngineError): void {
    this.#connection.fail(error);
  }

  /** Tells, once, that the cluster died. Closing it is no failure. */
  onFailure(listener: (error: EngineError) => void): Dispose {
    return this.#connection.onFailure(listener);
  }

  #receive(message: FromServer): void {
    for (const status of message.changes ?? []) this.sessions[status.index]?.update(status);
    if (message.type === 'notice') this.sessions[message.session]?.tellNotice(message.notice);
    if (message.type === 'notification') this.sessions[message.session]?.tellNotification(message.notification);
  }
}

class RemoteSession implements Session {
  readonly index: number;
  readonly #connection: Connection;
  readonly #noticeListeners = new Set<(notice: Notice) => void>();
  readonly #notificationListeners = new Set<(notification: Notification) => void>();
  #status: SessionStatus;
  #pending = 0;

  constructor(connection: Connection, status: SessionStatus) {
    this.index = status.index;
    this.#connection = connection;
    this.#status = status;
  }

  get pid(): number {
    return this.#status.pid;
  }

  /** As of the worker's last message, which may be old for what other clients run: `waits()` tells what waits now. */
  get state(): SessionState {
    if (this.#connection.ended !== null) return 'ended';
    const { state } = this.#status;
    return state === 'idle' && this.#pending > 0 ? 'running' : state;
  }

  async query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const args = { session: this.index, text, values: values ?? null };
    // The statement decides what its rows hold; the caller says what that is.
    return this.#track(this.#connection.call('query', args), values) as Promise<QueryResult<R>>;
  }

  async exec(sql: string): Promise<QueryResult[]> {
    return this.#track(this.#connection.call('exec', { session: this.index, sql }));
  }

  onNotice(listener: (notice: Notice) => void): Dispose {
    this.#noticeListeners.add(listener);
    return () => void this.#noticeListeners.delete(listener);
  }

  onNotification(listener: (notification: Notification) => void): Dispose {
    this.#notificationListeners.add(listener);
    return () => void this.#notificationListeners.delete(listener);
  }

  update(status: SessionStatus): void {
    this.#status = status;
  }

  tellNotice(notice: Notice): void {
    for (const listener of [...this.#noticeListeners]) listener(notice);
  }

  tellNotification(notification: Notification): void {
    for (const listener of [...this.#notificationListeners]) listener(notification);
  }

  async #track<T>(call: Promise<T>, values: readonly unknown[] = []): Promise<T> {
    this.#pending += 1;
    try {
      return await call;
    } catch (error) {
      throw isRefusal(error) ? explainRefusal(values, error) : error;
    } finally {
      this.#pending -= 1;
    }
  }
}

/** What `postMessage` throws, as opposed to what the worker answers: those are never DOMExceptions. */
function isRefusal(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'DataCloneError';
}
