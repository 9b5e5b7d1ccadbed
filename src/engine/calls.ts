/** A client's pending calls over one port: each is answered, or rejects when the other end dies. */
import { EngineError } from './errors.ts';
import { unpackError } from './packError.ts';
import type { Port } from './port.ts';
import type { CallName, Calls, FromServer, Reply, ToServer } from './protocol.ts';
import type { Dispose } from './types.ts';

interface Pending {
  resolve(result: Reply & { type: 'done' }): void;
  reject(error: Error): void;
}

export type ServerPort = Port<ToServer, FromServer>;

export class Connection {
  readonly #port: ServerPort;
  readonly #pending = new Map<number, Pending>();
  readonly #failureListeners = new Set<(error: EngineError) => void>();
  readonly #messageListeners = new Set<(message: FromServer) => void>();
  readonly #disposers: Dispose[] = [];
  #lastId = 0;
  /** Why no call is taken any more; null while calls are. */
  #ended: Error | null = null;
  #failure: EngineError | null = null;

  private constructor(port: ServerPort) {
    this.#port = port;
  }

  static over(port: ServerPort): Connection {
    const connection = new Connection(port);
    connection.#disposers.push(
      port.onMessage((message) => connection.#receive(message)),
      port.onClose(() => connection.fail(lineClosed())),
    );
    return connection;
  }

  /** Id of the call that was made last. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Why no call is taken any more: the cluster failed or was closed. */
  get ended(): Error | null {
    return this.#ended;
  }

  /** @throws what the worker threw; EngineError `CLUSTER_FAILED` or `CLUSTER_CLOSED` when it is gone. */
  call<Name extends CallName>(
    type: Name,
    args: Calls[Name]['args'],
    transfer: readonly Transferable[] = [],
  ): Promise<Calls[Name]['result']> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      // The request is sent first: one that cannot be cloned throws, and leaves nothing pending.
      this.#port.postMessage({ type, id, ...args } as ToServer, transfer);
      this.#pending.set(id, { resolve: (reply) => resolve(reply.result as Calls[Name]['result']), reject });
    });
  }

  /** Sends what has no answer. */
  tell(message: ToServer, transfer: readonly Transferable[] = []): void {
    if (this.#ended === null) this.#port.postMessage(message, transfer);
  }

  /** The other end has died: pending and later calls reject with this error, failure listeners are told once. */
  fail(error: EngineError): void {
    if (this.#ended !== null) return;
    this.#failure = error;
    this.end(error);
    this.#tellFailure();
  }

  /** As `fail`, for an end that was asked for: no failure listener is told. */
  end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    for (const dispose of this.#disposers) dispose();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
    this.#port.close();
  }

  /** A listener that comes after the failure is told, too. */
  onFailure(listener: (error: EngineError) => void): Dispose {
    this.#failureListeners.add(listener);
    if (this.#failure !== null) queueMicrotask(() => this.#tellFailure());
    return () => void this.#failureListeners.delete(listener);
  }

  #tellFailure(): void {
    const listeners = [...this.#failureListeners];
    this.#failureListeners.clear();
    if (this.#failure === null) return;
    for (const listener of listeners) listener(this.#failure);
  }

  /** Sees every message, before the call that it answers settles. */
  onMessage(listener: (message: FromServer) => void): Dispose {
    this.#messageListeners.add(listener);
    return () => void this.#messageListeners.delete(listener);
  }

  #receive(message: FromServer): void {
    for (const listener of this.#messageListeners) listener(message);
    switch (message.type) {
      case 'done':
        return this.#take(message.id)?.resolve(message);
      case 'refused':
        return this.#take(message.id)?.reject(unpackError(message.error));
      case 'failed':
        return this.fail(asFailure(unpackError(message.error)));
      case 'closed':
        return this.end(clusterClosed());
      default:
        // The others are for those who listen: see onMessage.
        return;
    }
  }

  /** Undefined for an answer to a call that was given up: it is dropped. */
  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

/** The error as one that says that the cluster is gone. */
export function asFailure(error: unknown): EngineError {
  if (error instanceof EngineError && error.code === 'CLUSTER_FAILED') return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EngineError('CLUSTER_FAILED', `The cluster died: ${reason}. Start a new one.`, { cause: error });
}

export function clusterClosed(): EngineError {
  return new EngineError('CLUSTER_CLOSED', 'The cluster was closed. Start a new one.');
}

function lineClosed(): EngineError {
  return new EngineError(
    'CLUSTER_FAILED',
    'The line to the cluster was closed: its worker has ended. Start a new one.',
  );
}
