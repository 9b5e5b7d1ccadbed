import type { RunEvent, RunParameters } from '../events/events.ts';
import type { Sample } from '../events/samples.ts';
import type { Series } from '../events/series.ts';
import type { Summary } from '../events/summary.ts';
import type { Tally } from '../events/tally.ts';

/** A recorded run: what a page shows of a cell before anything is run. */
export interface Recording {
  /** Without the machine's time: a recording made anew is the same. */
  readonly summary: Omit<Summary, 'wallMs'>;
  readonly tally: Tally;
  readonly parameters: RunParameters;
  readonly samples: readonly Sample[];
  readonly series: Series;
  /** Events left out of `events`. */
  readonly leftOut: number;
  readonly events: readonly RunEvent[];
}
