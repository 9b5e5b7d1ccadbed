/** Serves an open cluster to clients in other threads, each over a port of its own. */
import { asFailure } from './calls.ts';
import { EngineError } from './errors.ts';
import { Lane } from './lane.ts';
import { packError } from './packError.ts';
import { fromEventTarget } from './port.ts';
import { ServedClient, statusOf } from './served.ts';
import { ServedRun } from './serveRun.ts';
import type { Calls, CallName, Request, ServerEvent, ToServer } from './protocol.ts';
import type { ClientPort } from './served.ts';
import type { Cluster, Dispose, Session } from './types.ts';
import type { RunResult } from './virtualRun.ts';

/** Serves the cluster to one client, and to those that it connects. The disposer leaves the cluster open. */
export function serveCluster(cluster: Cluster, port: ClientPort): Dispose {
  const server = ClusterServer.of(cluster);
  server.serve(port);
  return () => server.dispose();
}

export class ClusterServer {
  readonly #cluster: Cluster;
  readonly #clients = new Set<ServedClient>();
  readonly #lanes: readonly Lane[];
  #subscriptions: Dispose[] = [];
  /** Why nobody is served any more. */
  #ended: ServerEvent | null = null;

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#lanes = cluster.sessions.map((_, index) => new Lane(() => this.#session(index)));
  }

  static of(cluster: Cluster): ClusterServer {
    const server = new ClusterServer(cluster);
    server.#subscribe();
    return server;
  }

  /** @param name under which `disconnect` can end it. The disposer ends it as its goodbye would. */
  serve(port: ClientPort, name: string | null = null): Dispose {
    const client = new ServedClient(port, name, () => this.#cluster.sessions);
    const leave = (): void => void this.#leave(client);
    client.listen((message) => this.#receive(client, message), leave);
    this.#clients.add(client);
    if (this.#ended !== null) this.#end(this.#ended);
    return leave;
  }

  /** Ends the clients with this name as their goodbye would; resolves when nothing of theirs is left. */
  async drop(name: string): Promise<void> {
    await this.#disconnect(name);
  }

  /** The cluster died: every client is told, and nobody is served any more. */
  fail(error: unknown): void {
    this.#end({ type: 'failed', error: packError(asFailure(error)) });
  }

  /** Ends every port; what clients have running goes on. */
  dispose(): void {
    this.#end({ type: 'closed' });
  }

  #receive(client: ServedClient, message: ToServer): void {
    if (message.type === 'goodbye') void this.#leave(client);
    else if (message.type === 'connect') this.serve(fromEventTarget(message.port), message.name);
    else if (message.type === 'stop-run') client.runs.get(message.run)?.stop();
    else if (message.type === 'choose') client.runs.get(message.run)?.choose(message.actor);
    else void this.#answer(client, message);
  }

  /** Never rejects: whatever is thrown is the caller's. */
  async #answer(client: ServedClient, request: Request): Promise<void> {
    try {
      client.done(request.id, await this.#perform(client, request));
      if (request.type === 'close') this.#end({ type: 'closed' });
    } catch (error) {
      client.refuse(request.id, error);
      if (error instanceof EngineError && error.code === 'CLUSTER_FAILED') this.fail(error);
    }
  }

  async #perform(client: ServedClient, request: Request): Promise<Calls[CallName]['result']> {
    switch (request.type) {
      case 'open':
        throw new EngineError(
          'BAD_ARGUMENT',
          'This cluster is open already. Start another worker for another cluster.',
        );
      case 'hello':
        return { versions: this.#cluster.versions, sessions: this.#cluster.sessions.map(statusOf) };
      case 'query':
        return this.#lane(request.session).submit(client, (session) => query(session, request));
      case 'exec':
        return this.#lane(request.session).submit(client, (session) => session.exec(request.sql));
      case 'cancel':
        return this.#cluster.cancel(this.#session(request.session));
      case 'waits':
        return this.#cluster.waits();
      case 'reset':
        return this.#reset();
      case 'close':
        return this.#cluster.close().then(() => null);
      case 'disconnect':
        return this.#disconnect(request.name);
      case 'run':
        return this.#conduct(client, request);
    }
  }

  async #reset(): Promise<null> {
    for (const lane of this.#lanes) lane.hold();
    try {
      await this.#cluster.reset();
      this.#subscribe();
    } finally {
      for (const lane of this.#lanes) lane.release();
    }
    return null;
  }

  async #conduct(client: ServedClient, { id, request, port }: Request & { type: 'run' }): Promise<RunResult> {
    const run = new ServedRun(id, (event) => client.tell(event));
    client.runs.set(id, run);
    try {
      return await run.conduct(this.#cluster, request, port);
    } finally {
      client.runs.delete(id);
    }
  }

  async #disconnect(name: string): Promise<null> {
    const gone = [...this.#clients].filter((client) => client.name === name);
    await Promise.all(gone.map((client) => this.#leave(client)));
    return null;
  }

  /** A client that is gone must not keep others waiting for its locks. Never rejects. */
  async #leave(client: ServedClient): Promise<void> {
    if (!this.#clients.delete(client)) return;
    for (const run of client.runs.values()) run.stop();
    client.close();
    const cancel = (session: Session): Promise<boolean> => this.#cluster.cancel(session);
    const evictions = await Promise.allSettled(this.#lanes.map((lane) => lane.evict(client, cancel)));
    const failed = evictions.find((eviction) => eviction.status === 'rejected');
    if (failed !== undefined) this.fail(failed.reason);
  }

  /** Again after a reset, which may have replaced sessions. */
  #subscribe(): void {
    this.#unsubscribe();
    this.#subscriptions = this.#cluster.sessions.flatMap((session, index) => [
      session.onNotice((notice) => {
        if (!this.#lane(index).quiet) this.#tell({ type: 'notice', session: index, notice });
      }),
      session.onNotification((notification) => this.#tell({ type: 'notification', session: index, notification })),
    ]);
  }

  #unsubscribe(): void {
    for (const dispose of this.#subscriptions.splice(0)) dispose();
  }

  #tell(event: ServerEvent): void {
    for (const client of this.#clients) client.tell(event);
  }

  #end(event: ServerEvent): void {
    this.#ended ??= event;
    this.#unsubscribe();
    this.#tell(this.#ended);
    for (const client of this.#clients) client.close();
    this.#clients.clear();
  }

  #session(index: number): Session {
    return this.#cluster.sessions[index] ?? raiseNoSession(index, this.#lanes.length);
  }

  #lane(index: number): Lane {
    return this.#lanes[index] ?? raiseNoSession(index, this.#lanes.length);
  }
}

function query(session: Session, { text, values }: Request & { type: 'query' }): ReturnType<Session['query']> {
  return values === null ? session.query(text) : session.query(text, values);
}

function raiseNoSession(index: number, count: number): never {
  throw new EngineError('BAD_ARGUMENT', `There is no session ${index}: this cluster has sessions 0 to ${count - 1}.`);
}
