/** Starts a cluster in a thread of its own, and gives what its starter can do with it. */
import { Connection, asFailure } from './calls.ts';
import { EngineError } from './errors.ts';
import { RemoteCluster } from './remote.ts';
import type { ServerPort } from './calls.ts';
import type { RunEvent } from '../events/events.ts';
import type { LoadProgress, OpenArguments, RunRequest } from './protocol.ts';
import type { Actor } from './schedule.ts';
import type { Cluster, Dispose, LockWait, Session, Versions } from './types.ts';
import type { RunResult } from './virtualRun.ts';

/** A cluster in a worker of its own. */
export interface ClusterHandle extends Cluster {
  /** A fresh port to the cluster, for `connectCluster` in another worker; hand it over by transfer. @throws when the cluster is gone. */
  newPort(): MessagePort;
  /**
   * Ends a port from `newPort()` when the worker that had it was ended: what ran is cancelled, what
   * was open is rolled back, and the promise resolves after that. Browsers need not tell the cluster.
   */
  dropPort(port: MessagePort): Promise<void>;
  /**
   * Ends the worker at once; pending and later calls reject with `CLUSTER_FAILED`. The one way to
   * end a statement that computes. No failure listener is told: it was asked for.
   */
  terminate(): void;
  /** Tells, once, that the cluster died by itself. */
  onFailure(listener: (error: EngineError) => void): Dispose;
  /**
   * Conducts a run (virtual clock only). `port`, which is transferred, leads to the worker with the
   * cell's code; events come in batches, in order.
   */
  startRun(request: RunRequest, port: MessagePort, listeners: RunListeners): RunHandle;
}

export interface RunListeners {
  readonly onEvents: (events: readonly RunEvent[]) => void;
  /** For a run whose policy is `asked`: who moves next? Answer with `choose`. */
  readonly onAsk?: (actors: readonly Actor[]) => void;
}

export interface RunHandle {
  /** Resolves at the end of the run, after its last event. @throws as a call does. */
  readonly result: Promise<RunResult>;
  choose(actor: Actor): void;
  /** Ends the run, whose worker was ended. What its sessions still do is for `reset()` to end. */
  stop(): void;
}

export interface StartOptions {
  /** How many sessions. */
  readonly sessions: number;
  /** Postgres settings, as on its command line: `{ deadlock_timeout: '200ms' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: `real`. */
  readonly clock?: 'real' | 'virtual';
  readonly onProgress?: (progress: LoadProgress) => void;
  /** Gives up the start: the promise rejects with the signal's reason. Later it has no effect. */
  readonly signal?: AbortSignal;
}

/** A worker, whichever runtime's. */
export interface ClusterThread {
  readonly port: ServerPort;
  /** Ends the thread at once. Harmless when it has ended. */
  end(): void;
  onDeath(listener: (error: EngineError) => void): void;
}

/** @throws what opening the cluster threw in the worker, or the signal's reason; then the worker is ended. */
export async function startCluster(
  thread: ClusterThread,
  urls: OpenArguments['urls'],
  { sessions, settings = {}, clock = 'real', onProgress, signal }: StartOptions,
): Promise<ClusterHandle> {
  const connection = watch(thread, onProgress);
  const abort = (): void => connection.end(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    await connection.call('open', { urls, sessions, settings, clock });
    return new WorkerCluster(thread, connection, await RemoteCluster.over(connection));
  } catch (error) {
    connection.end(asFailure(error));
    thread.end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function watch(thread: ClusterThread, onProgress: StartOptions['onProgress']): Connection {
  const connection = Connection.over(thread.port);
  thread.onDeath((error) => connection.fail(error));
  // A cluster that died holds hundreds of megabytes until its thread ends.
  connection.onFailure(() => thread.end());
  connection.onMessage((message) => {
    if (message.type === 'progress') onProgress?.(message.progress);
  });
  return connection;
}

class WorkerCluster implements ClusterHandle {
  readonly sessions: readonly Session[];
  readonly versions: Versions;
  readonly #thread: ClusterThread;
  readonly #connection: Connection;
  readonly #cluster: RemoteCluster;
  readonly #portNames = new WeakMap<MessagePort, string>();
  #lastPort = 0;

  constructor(thread: ClusterThread, connection: Connection, cluster: RemoteCluster) {
    this.#thread = thread;
    this.#connection = connection;
    this.#cluster = cluster;
    this.sessions = cluster.sessions;
    this.versions = cluster.versions;
  }

  waits(): Promise<LockWait[]> {
    return this.#cluster.waits();
  }

  cancel(session: Session): Promise<boolean> {
    return this.#cluster.cancel(session);
  }

  reset(): Promise<void> {
    return this.#cluster.reset();
  }

  async close(): Promise<void> {
    await this.#cluster.close();
    this.#thread.end();
  }

  newPort(): MessagePort {
    // Whoever connected over a port of a dead cluster would wait for ever.
    if (this.#connection.ended !== null) throw this.#connection.ended;
    const { port1, port2 } = new MessageChannel();
    const name = `port ${++this.#lastPort}`;
    this.#portNames.set(port1, name);
    this.#connection.tell({ type: 'connect', name, port: port2 }, [port2]);
    return port1;
  }

  async dropPort(port: MessagePort): Promise<void> {
    const name = this.#portNames.get(port);
    if (name === undefined) throw new EngineError('BAD_ARGUMENT', 'This port is not from newPort() of this cluster.');
    if (this.#connection.ended === null) await this.#connection.call('disconnect', { name });
  }

  terminate(): void {
    this.#connection.end(new EngineError('CLUSTER_FAILED', 'The cluster was ended. Start a new one.'));
    this.#thread.end();
  }

  onFailure(listener: (error: EngineError) => void): Dispose {
    return this.#connection.onFailure(listener);
  }

  startRun(request: RunRequest, port: MessagePort, { onEvents, onAsk }: RunListeners): RunHandle {
    const connection = this.#connection;
    const result = connection.call('run', { request, port }, [port]);
    const run = connection.lastId;
    const stopListening = connection.onMessage((message) => {
      if (message.type === 'run-events' && message.run === run) onEvents(message.events);
      if (message.type === 'run-asks' && message.run === run) onAsk?.(message.actors);
    });
    result.then(stopListening, stopListening);
    return {
      result,
      choose: (actor) => connection.tell({ type: 'choose', run, actor }),
      stop: () => connection.tell({ type: 'stop-run', run }),
    };
  }
}
