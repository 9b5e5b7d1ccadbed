/** The suite over the engine: the same tests that a native PostgreSQL passes. */
import { behaviourSuite, SUITE_CLUSTER } from './behaviour/suite.ts';
import { caseSuite } from './behaviour/cases.ts';
import { openCluster } from '../src/engine/index.ts';

const TAKES_TURNS = { parallel: false, waitEvents: true } as const;

const open = () => openCluster(SUITE_CLUSTER);

behaviourSuite('engine', open, TAKES_TURNS);
caseSuite('engine', open, TAKES_TURNS);
