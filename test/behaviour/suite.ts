/** How Postgres sessions behave, written once and run over every engine that claims the interface. */
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../../src/engine/types.ts';
import { openStage } from './stage.ts';
import type { Topic, Traits } from './topic.ts';
import { advisoryLocks } from './topics/advisory-locks.ts';
import { cancelling } from './topics/cancelling.ts';
import { conflicts } from './topics/conflicts.ts';
import { deadlocks } from './topics/deadlocks.ts';
import { ddl } from './topics/ddl.ts';
import { errors } from './topics/errors.ts';
import { foreignKeys } from './topics/foreign-keys.ts';
import { isolation } from './topics/isolation.ts';
import { lockModes } from './topics/lock-modes.ts';
import { maintenance } from './topics/maintenance.ts';
import { messages } from './topics/messages.ts';
import { observing } from './topics/observing.ts';
import { parameters } from './topics/parameters.ts';
import { preparedStatements } from './topics/prepared-statements.ts';
import { resetting } from './topics/resetting.ts';
import { results } from './topics/results.ts';
import { rowLocks } from './topics/row-locks.ts';
import { sessions } from './topics/sessions.ts';
import { terminating } from './topics/terminating.ts';
import { timeouts } from './topics/timeouts.ts';
import { transactions } from './topics/transactions.ts';
import { triggers } from './topics/triggers.ts';
import { waitsInside } from './topics/waits-inside.ts';

/** What the suite needs of the cluster that `open` gives it. */
export const SUITE_CLUSTER = { sessions: 6, settings: { deadlock_timeout: '200ms' } } as const;

const TOPICS: readonly Topic[] = [
  rowLocks,
  lockModes,
  foreignKeys,
  conflicts,
  deadlocks,
  isolation,
  waitsInside,
  triggers,
  advisoryLocks,
  timeouts,
  cancelling,
  terminating,
  transactions,
  ddl,
  maintenance,
  sessions,
  preparedStatements,
  messages,
  observing,
  results,
  errors,
  parameters,
  resetting,
];

/**
 * Registers the suite's tests. `open` is called once; it must give a cluster
 * of `SUITE_CLUSTER`, which every test resets first.
 */
export function behaviourSuite(name: string, open: () => Promise<Cluster>, traits: Traits): void {
  describe(`behaviour: ${name}`, () => {
    let cluster: Cluster | undefined;
    before(async () => void (cluster = await open()));
    after(() => cluster?.close());
    const opened = () => cluster ?? Promise.reject(new Error('the cluster did not open'));
    for (const topic of TOPICS) registerTopic(topic, opened, traits);
  });
}

function registerTopic(topic: Topic, opened: () => Cluster | Promise<Cluster>, traits: Traits): void {
  describe(topic.name, () => {
    for (const [title, scene] of Object.entries(topic.scenes)) {
      const need = topic.needs?.[title];
      const skip = need !== undefined && !traits[need] && `this engine lacks the trait ${need}`;
      test(title, { skip }, async () => scene(await openStage(await opened())));
    }
  });
}
