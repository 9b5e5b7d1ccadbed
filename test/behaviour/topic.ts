import type { Stage } from './stage.ts';

/**
 * Where engines may differ. Everything else must be the same everywhere:
 * no assertion is loosened for one of them.
 */
export interface Traits {
  /**
   * Sessions run at the same time, as native backends do: a statement that
   * computes without end can be cancelled, and two sessions woken by the same
   * commit race. Sessions in one WASM thread take turns and do neither.
   */
  readonly parallel: boolean;
  /**
   * `pg_stat_activity.wait_event` is filled. The engine stands in for
   * `WaitLatch`, in which Postgres reports it.
   */
  readonly waitEvents: boolean;
}

/** One scenario: plays on a fresh stage and throws when Postgres does something else than it should. */
export type Scene = (stage: Stage) => Promise<void>;

/** Scenes about one question, by title. */
export interface Topic {
  readonly name: string;
  readonly scenes: Readonly<Record<string, Scene>>;
  /** The scenes that an engine without the trait skips. */
  readonly needs?: Readonly<Record<string, keyof Traits>>;
}
