import type { CellRunner } from './CellRunner.ts';
import type { RunPlan } from './plan.ts';
import { hasEnded, type EndState } from './state.ts';

/** Starts a run and resolves to how it ended. The runner must not be busy. */
export function runToEnd(runner: Pick<CellRunner, 'start' | 'subscribe'>, plan: RunPlan): Promise<EndState> {
  return new Promise((resolve) => {
    const stop = runner.subscribe((state) => {
      if (!hasEnded(state)) return;
      stop();
      resolve(state);
    });
    runner.start(plan);
  });
}
