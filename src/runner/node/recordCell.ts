/** A recorded run: what a page shows of a cell before anything is run. */
import type { RunEvent, RunParameters } from '../../events/events.ts';
import { foldSamples } from '../../events/samples.ts';
import { foldSeries, type Series } from '../../events/series.ts';
import { summarise, type Summary } from '../../events/summary.ts';
import { thinLog } from '../../events/thin.ts';
import type { Cluster } from '../../engine/types.ts';
import type { FoundCell } from './findCell.ts';
import { runCell } from './runCell.ts';

export interface Recording {
  /** Without the machine's time: a recording made anew is the same. */
  readonly summary: Omit<Summary, 'wallMs'>;
  readonly parameters: RunParameters;
  readonly samples: ReturnType<typeof foldSamples>;
  readonly series: Series;
  /** Events left out of `events`. */
  readonly leftOut: number;
  readonly events: readonly RunEvent[];
}

const SEED = 1;
const EVENTS_KEPT = 300;
const POINTS_KEPT = 60;

/** Runs the cell with seed 1 on the virtual clock. @throws what the cell throws. */
export async function recordCell(cluster: Cluster, cell: FoundCell): Promise<Recording> {
  const { events, error } = await runCell(cluster, cell, { seed: SEED });
  if (error !== null) throw error;
  const { wallMs: _machine, ...summary } = summarise(events, 0);
  const { parameters } = events[0] as RunEvent & { type: 'run-started' };
  const { events: kept, leftOut } = thinLog(events, EVENTS_KEPT);
  return { summary, parameters, samples: foldSamples(events), series: foldSeries(events, POINTS_KEPT), leftOut, events: kept };
}

/** Where a cell's recording lies. */
export function recordingUrl(cell: FoundCell): URL {
  return new URL(`../recorded/${cell.name}.json`, cell.url);
}
