/** The suite over the engine: the same tests that a native PostgreSQL passes. */
import { behaviourSuite, SUITE_CLUSTER } from './behaviour/suite.ts';
import { caseSuite } from './behaviour/cases.ts';
import { openCluster } from '../src/engine/index.ts';

const TAKES_TURNS = { parallel: false, waitEvents: true } as const;

for (const clock of ['real', 'virtual'] as const) {
  const open = () => openCluster({ ...SUITE_CLUSTER, clock });
  behaviourSuite(`engine, ${clock} clock`, open, TAKES_TURNS);
  caseSuite(`engine, ${clock} clock`, open, TAKES_TURNS);
}
