/** The thread that runs a cell in Node: one run, then it is ended. */
import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../../engine/packError.ts';
import { fromNodeEmitter } from '../../engine/port.ts';
import { connectCluster } from '../../engine/remote.ts';
import type { RunEvent } from '../../events/events.ts';
import { setHost } from '../../lab/context.ts';
import { installGlobals, type GlobalScope } from '../../lab/globals.ts';
import type { LabHost } from '../../lab/host.ts';
import { PortHost } from '../../lab/portHost.ts';
import { RealHost } from '../../lab/realHost.ts';
import { captureConsole } from '../captureConsole.ts';
import { endWhenStuck } from '../endWhenStuck.ts';
import { lineIn } from '../lineIn.ts';
import type { CellReport, CellTask } from './protocol.ts';

const LAB = new URL('../../lab/index.ts', import.meta.url).href;

/** A cell imports `lab`, which is no package. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'lab' ? { url: LAB, shortCircuit: true } : next(specifier, context),
});

function report(message: CellReport): void {
  parentPort?.postMessage(message);
}

async function runCell(host: LabHost, url: string): Promise<Error | null> {
  setHost(host, { lineOf: (stack) => lineIn(stack, url) });
  captureConsole(console, host);
  installGlobals(globalThis as unknown as GlobalScope, host);
  try {
    await import(url);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(`The cell threw ${String(error)}, which is no Error.`);
  }
}

async function onVirtualClock({ url, port }: CellTask): Promise<void> {
  const host = await PortHost.open(fromNodeEmitter(port));
  endWhenStuck(host);
  const error = await runCell(host, url);
  report({ type: 'ended', error: error && packError(error) });
  host.end(error?.message ?? null);
}

async function onRealClock({ url, port, seed, parameters }: CellTask): Promise<void> {
  const log = (event: RunEvent): void => report({ type: 'event', event });
  const host = new RealHost(await connectCluster(fromNodeEmitter(port)), { seed, parameters, log });
  const error = await runCell(host, url);
  report({ type: 'ended', error: error && packError(error) });
}

const task = workerData as CellTask;
await (task.clock === 'virtual' ? onVirtualClock(task) : onRealClock(task));
