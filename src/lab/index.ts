export type { Client, Row, Sleep } from './client.ts';
export { Pool } from './pool.ts';
export { race, type RaceCell, type RaceOutcome, type RacePlan, type RaceTally } from './race.ts';
