/** Ends a run in which nothing can happen any more and nobody in the lab could be told. */
import { eventLoopTurn } from '../engine/eventLoop.ts';
import type { PortHost } from '../lab/portHost.ts';

/**
 * The lab rejects what the cell awaits from it, and the cell ends by that error.
 * Code that awaits something else hears nothing: then this ends the run.
 */
export function endWhenStuck(host: PortHost): void {
  host.onStuck(() => {
    void eventLoopTurn()
      .then(eventLoopTurn)
      .then(() => host.end('Nothing can happen any more: the cell awaits something that the lab knows nothing of.'));
  });
}
