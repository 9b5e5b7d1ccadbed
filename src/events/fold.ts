/**
 * What every fold over a log has in common. A fold may be fed event by event
 * while a run goes on, and read at any moment; reading it changes nothing.
 */
import type { RunEvent, RunEventType } from './events.ts';

export interface Fold<Value> {
  /** In the log's order, each event once. */
  add(event: RunEvent): void;
  /** What the events so far amount to: a snapshot that later events leave alone. */
  readonly value: Value;
}

export type EventOf<Type extends RunEventType> = Extract<RunEvent, { readonly type: Type }>;

/** What a state does with the types of events that concern it. */
export type Handlers<State> = {
  readonly [Type in RunEventType]?: (state: State, event: EventOf<Type>) => void;
};

export function handle<State>(handlers: Handlers<State>, state: State, event: RunEvent): void {
  // The table's type pairs each key with its event; TypeScript cannot follow that through a lookup.
  const handler = handlers[event.type] as ((state: State, event: RunEvent) => void) | undefined;
  handler?.(state, event);
}

export function foldAll<Value>(fold: Fold<Value>, events: Iterable<RunEvent>): Value {
  for (const event of events) fold.add(event);
  return fold.value;
}
