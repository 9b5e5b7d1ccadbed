/** Messages between the page and the worker that runs a cell, one worker for each run. */
import type { RaceOutcome, RacePlan, RaceTally } from '../lab/index.ts';

/** What the page sends, once, with a port to the cluster. */
export interface StartRace {
  readonly type: 'start';
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
  readonly plan: RacePlan;
  readonly port: MessagePort;
}

export type CellMessage =
  | { readonly type: 'started' }
  | { readonly type: 'progress'; readonly tally: RaceTally }
  | { readonly type: 'done'; readonly outcome: RaceOutcome }
  | { readonly type: 'failed'; readonly error: RunError };

/** Why a run failed, as plain data. */
export interface RunError {
  /** Whose error it is: the browser's lack of JSPI, the engine, Postgres, or the cell's own code. */
  readonly source: 'unsupported' | 'engine' | 'database' | 'code';
  readonly name: string;
  readonly message: string;
  /** SQLSTATE of an error of Postgres; the engine's own code otherwise. */
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
}
