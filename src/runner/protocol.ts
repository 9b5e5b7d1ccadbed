/** Messages between the page and the worker that runs a cell, one worker for each run. */
import type { PackedError } from '../engine/packError.ts';

/** What the page sends, once. */
export interface StartCell {
  readonly type: 'start';
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
  /** To the run's conductor. */
  readonly port: MessagePort;
}

/** The cell's code has ended; null when it ended well. */
export interface CellReport {
  readonly type: 'ended';
  readonly error: PackedError | null;
}

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
