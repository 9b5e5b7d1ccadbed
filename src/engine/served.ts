/** One client of a served cluster, as the server sees it: a port, and what the client was last told. */
import { packError } from './packError.ts';
import type { Port } from './port.ts';
import type { Calls, CallName, FromServer, Reply, ServerEvent, SessionStatus, ToServer } from './protocol.ts';
import type { ServedRun } from './serveRun.ts';
import type { Dispose, Session } from './types.ts';

export type ClientPort = Port<FromServer, ToServer>;

export class ServedClient {
  /** The name under which another client connected it; null for one that came by itself. */
  readonly name: string | null;
  /** The runs that it has under way, by the id of their call. */
  readonly runs = new Map<number, ServedRun>();
  readonly #port: ClientPort;
  readonly #sessions: () => readonly Session[];
  readonly #told = new Map<number, string>();
  readonly #disposers: Dispose[] = [];
  #open = true;

  constructor(port: ClientPort, name: string | null, sessions: () => readonly Session[]) {
    this.#port = port;
    this.name = name;
    this.#sessions = sessions;
  }

  listen(onMessage: (message: ToServer) => void, onClose: () => void): void {
    this.#disposers.push(this.#port.onClose(onClose), this.#port.onMessage(onMessage));
  }

  done(id: number, result: Calls[CallName]['result']): void {
    try {
      this.#send({ type: 'done', id, result });
    } catch (error) {
      // A type parser made a value that cannot be cloned: the caller must hear of it, not wait.
      this.refuse(id, error);
    }
  }

  refuse(id: number, error: unknown): void {
    this.#send({ type: 'refused', id, error: packError(error) });
  }

  tell(event: ServerEvent): void {
    this.#send(event);
  }

  /** Sends and hears nothing any more. */
  close(): void {
    this.#open = false;
    for (const dispose of this.#disposers.splice(0)) dispose();
    this.#port.close();
  }

  #send(message: Reply | ServerEvent): void {
    if (!this.#open) return;
    const changes = this.#sessions()
      .map(statusOf)
      .filter((status) => this.#isNews(status));
    this.#port.postMessage(changes.length === 0 ? message : { ...message, changes });
    for (const status of changes) this.#told.set(status.index, keyOf(status));
  }

  #isNews(status: SessionStatus): boolean {
    return this.#told.get(status.index) !== keyOf(status);
  }
}

export function statusOf({ index, pid, state }: Session): SessionStatus {
  return { index, pid, state };
}

function keyOf({ pid, state }: SessionStatus): string {
  return `${pid} ${state}`;
}
