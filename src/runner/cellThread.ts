/** The page's side of a cell's worker. */
import { unpackError } from '../engine/packError.ts';
import { packRunError } from './packRunError.ts';
import type { CellReport, RunError, StartCell } from './protocol.ts';

/** The part of `Worker` that a run needs. */
export type CellWorker = Pick<Worker, 'addEventListener' | 'postMessage' | 'terminate'>;

export interface CellThread {
  /** To the run's conductor, which is to be given it. */
  readonly port: MessagePort;
  /** What the cell threw, or null. Pending for as long as its code runs. */
  readonly ended: Promise<RunError | null>;
  /** The worker itself failed, and tells its conductor nothing. */
  readonly died: Promise<RunError>;
  end(): void;
}

export function startCellThread(worker: CellWorker, cell: string): CellThread {
  const { port1: port, port2 } = new MessageChannel();
  const ended = Promise.withResolvers<RunError | null>();
  const died = Promise.withResolvers<RunError>();
  worker.addEventListener('message', ({ data: { error } }: MessageEvent<CellReport>) => {
    ended.resolve(error && packRunError(unpackError(error), 'code'));
  });
  worker.addEventListener('error', ({ message }) => died.resolve(explainDeath(message)));
  worker.postMessage({ type: 'start', cell, port: port2 } satisfies StartCell, [port2]);
  return { port, ended: ended.promise, died: died.promise, end: () => worker.terminate() };
}

/** The event has no message when the worker's script itself could not be loaded. */
function explainDeath(message: string | undefined): RunError {
  if (message) return { source: 'code', name: 'Error', message };
  const text = "The cell's worker could not be loaded. Check the connection and run again.";
  return { source: 'engine', name: 'Error', message: text };
}
