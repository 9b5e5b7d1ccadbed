/** Makes the recorded run of a cell. */
import type { RunEvent } from '../../events/events.ts';
import { foldSamples } from '../../events/samples.ts';
import { foldSeries } from '../../events/series.ts';
import { summarise } from '../../events/summary.ts';
import { foldTally } from '../../events/tally.ts';
import { thinLog } from '../../events/thin.ts';
import type { Cluster } from '../../engine/types.ts';
import type { Recording } from '../recording.ts';
import type { FoundCell } from './findCell.ts';
import { runCell } from './runCell.ts';

export type { Recording } from '../recording.ts';

const SEED = 1;
const EVENTS_KEPT = 300;
const POINTS_KEPT = 60;

/** Runs the cell with seed 1 on the virtual clock. @throws what the cell throws. */
export async function recordCell(cluster: Cluster, cell: FoundCell): Promise<Recording> {
  const { events, error } = await runCell(cluster, cell, { seed: SEED });
  if (error !== null) throw error;
  const { wallMs, ...summary } = summarise(events, 0);
  const { parameters } = events[0] as RunEvent & { type: 'run-started' };
  const { events: kept, leftOut } = thinLog(events, EVENTS_KEPT);
  const samples = foldSamples(events);
  return {
    summary,
    tally: foldTally(events),
    parameters,
    samples,
    series: foldSeries(events, POINTS_KEPT),
    leftOut,
    events: kept,
  };
}

/** Where a cell's recording lies. */
export function recordingUrl(cell: FoundCell): URL {
  return new URL(`../recorded/${cell.name}.json`, cell.url);
}
