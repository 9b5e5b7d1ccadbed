import type { Client } from './client.ts';

/** A fixed set of clients; who asks when all are out waits in line. */
export class Pool {
  readonly #idle: Client[];
  readonly #line: ((client: Client) => void)[] = [];

  constructor(clients: readonly Client[]) {
    if (clients.length === 0) throw new RangeError('A pool needs at least one client; it was given none.');
    this.#idle = [...clients];
  }

  /** Lends a client to `work` and takes it back when that settles. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#take();
    try {
      return await work(client);
    } finally {
      this.#giveBack(client);
    }
  }

  #take(): Promise<Client> {
    const client = this.#idle.pop();
    if (client !== undefined) return Promise.resolve(client);
    return new Promise((resolve) => this.#line.push(resolve));
  }

  #giveBack(client: Client): void {
    const next = this.#line.shift();
    if (next) next(client);
    else this.#idle.push(client);
  }
}
