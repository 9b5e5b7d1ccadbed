import type { LoadProgress } from '../engine/protocol.ts';
import type { RunLog } from '../events/log.ts';
import type { Summary } from '../events/summary.ts';
import type { RunError } from './protocol.ts';

/** What a runner is doing, or how its last run ended. */
export type RunState =
  | { readonly type: 'idle' }
  /** `progress` is null until bytes arrive, and when nothing has to be loaded. */
  | { readonly type: 'booting'; readonly progress: LoadProgress | null }
  /** The log grows as the run goes on; told anew whenever it has. */
  | { readonly type: 'running'; readonly log: RunLog }
  | EndState;

export type EndState =
  | { readonly type: 'done'; readonly log: RunLog; readonly summary: Summary }
  | { readonly type: 'failed'; readonly error: RunError }
  | { readonly type: 'stopped' };

export function hasEnded(state: RunState): state is EndState {
  return state.type === 'done' || state.type === 'failed' || state.type === 'stopped';
}

export function isBusy(state: RunState): boolean {
  return state.type === 'booting' || state.type === 'running';
}
