/**
 * The cell's worker: runs one cell against the conductor behind a port, then waits to be ended.
 * An endless loop in a cell blocks this thread and no other.
 */
import { packError } from '../engine/packError.ts';
import { fromEventTarget } from '../engine/port.ts';
import { setHost } from '../lab/context.ts';
import { installGlobals, type GlobalScope } from '../lab/globals.ts';
import { PortHost } from '../lab/portHost.ts';
import { captureConsole } from './captureConsole.ts';
import { importCell } from './importCell.ts';
import { lineIn } from './lineIn.ts';
import type { CellReport, StartCell } from './protocol.ts';

addEventListener('message', (event: MessageEvent<StartCell>) => void run(event.data), { once: true });

async function run({ cell, port }: StartCell): Promise<void> {
  let opened: Promise<PortHost> | undefined;
  const open = (): Promise<PortHost> => (opened ??= PortHost.open(fromEventTarget(port)));
  const end = async (thrown: unknown): Promise<void> => report(await open(), thrown);
  watchForStrays((thrown) => void end(thrown));
  try {
    await importCell(cell, async (url) => enter(await open(), url));
    await end(null);
  } catch (error) {
    await end(error);
  }
}

/** From now on this realm is the run's. */
function enter(host: PortHost, url: string): void {
  setHost(host, { lineOf: (stack) => lineIn(stack, url) });
  captureConsole(console, host);
  installGlobals(globalThis as unknown as GlobalScope, host);
}

/** What is thrown in a timer, or rejected with nobody listening, ends the run as it would end a process. */
function watchForStrays(end: (thrown: unknown) => void): void {
  addEventListener('error', (event) => {
    event.preventDefault();
    end(event.error ?? event.message);
  });
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    end(event.reason);
  });
}

/** @param thrown what the cell threw, or null when it ended well */
function report(host: PortHost, thrown: unknown): void {
  const error = thrown === null ? null : packError(thrown);
  postMessage({ type: 'ended', error } satisfies CellReport);
  host.end(error?.message ?? null);
}
