/**
 * Every message between a cluster's worker and its clients. Data only: what is
 * done with a message stands in `serve.ts` and `remote.ts`.
 */
import type { RunEvent, RunParameters } from '../events/events.ts';
import type { Latency } from './latency.ts';
import type { PackedError } from './packError.ts';
import type { Actor } from './schedule.ts';
import type { RunResult } from './virtualRun.ts';
import type { LockWait, Notice, Notification, QueryResult, SessionState, Versions } from './types.ts';

/** Where the worker fetches what it boots from; absolute URLs. */
export interface AssetUrls {
  readonly wasm: string;
  readonly bundle: string;
  readonly store: string;
}

/** Bytes of the assets that have arrived; `total` is null while it is not known. */
export interface LoadProgress {
  readonly loaded: number;
  readonly total: number | null;
}

/** What can change about a session without its client doing anything. */
export interface SessionStatus {
  readonly index: number;
  readonly pid: number;
  readonly state: SessionState;
}

export interface Welcome {
  readonly versions: Versions;
  readonly sessions: readonly SessionStatus[];
}

/** What an `open` asks for. `urls` is null where the worker finds its files itself (Node). */
export interface OpenArguments {
  readonly urls: AssetUrls | null;
  readonly sessions: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly clock: 'real' | 'virtual';
}

/** What a run on the virtual clock is given (see `RunOptions`). */
export interface RunRequest {
  readonly cell: string;
  readonly seed: number;
  readonly parameters?: RunParameters;
  readonly latency?: Latency;
  readonly tally?: string;
  /** Who decides what comes next. Default: what time says, ties broken by the seed. */
  readonly policy?: { readonly type: 'scripted'; readonly choices: readonly Actor[] } | { readonly type: 'asked' };
}

/** The calls: what each sends and what its answer brings. */
export interface Calls {
  open: { args: OpenArguments; result: null };
  hello: { args: object; result: Welcome };
  /** `values` null means the simple protocol. */
  query: { args: { session: number; text: string; values: readonly unknown[] | null }; result: QueryResult };
  exec: { args: { session: number; sql: string }; result: QueryResult[] };
  cancel: { args: { session: number }; result: boolean };
  waits: { args: object; result: LockWait[] };
  reset: { args: object; result: null };
  close: { args: object; result: null };
  /** Ends the port that `connect` introduced under this name, as its own goodbye would. */
  disconnect: { args: { name: string }; result: null };
  /** Conducts a run; `port`, transferred, leads to the worker with the cell's code. The answer comes at its end. */
  run: { args: { request: RunRequest; port: MessagePort }; result: RunResult };
}

export type CallName = keyof Calls;

export type Request = {
  [Name in CallName]: { readonly type: Name; readonly id: number } & Readonly<Calls[Name]['args']>;
}[CallName];

/** A client's messages. */
export type ToServer =
  | Request
  /** Serves one more port, which is transferred with the message. */
  | { readonly type: 'connect'; readonly name: string; readonly port: MessagePort }
  /** The cell of the run (the id of its call) was ended. */
  | { readonly type: 'stop-run'; readonly run: number }
  /** The answer to `run-asks`. */
  | { readonly type: 'choose'; readonly run: number; readonly actor: Actor }
  /** The client goes: what it has running is cancelled, what it has open is rolled back. */
  | { readonly type: 'goodbye' };

/** The answer to the request with this id. */
export type Reply =
  | { readonly type: 'done'; readonly id: number; readonly result: Calls[CallName]['result'] }
  | { readonly type: 'refused'; readonly id: number; readonly error: PackedError };

/** What a worker tells unasked. */
export type ServerEvent =
  | { readonly type: 'progress'; readonly progress: LoadProgress }
  | { readonly type: 'notice'; readonly session: number; readonly notice: Notice }
  | { readonly type: 'notification'; readonly session: number; readonly notification: Notification }
  /** What has happened in a run, in order. */
  | { readonly type: 'run-events'; readonly run: number; readonly events: readonly RunEvent[] }
  /** Who of these moves next? */
  | { readonly type: 'run-asks'; readonly run: number; readonly actors: readonly Actor[] }
  /** The cluster died; nothing else follows. */
  | { readonly type: 'failed'; readonly error: PackedError }
  /** A client closed the cluster; nothing else follows. */
  | { readonly type: 'closed' };

/** `changes` are the sessions whose pid or state differs from what this client was last told. */
export type FromServer = (Reply | ServerEvent) & { readonly changes?: readonly SessionStatus[] };
