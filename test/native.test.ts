/** The suite over a native PostgreSQL: what the engine is measured against. */
import { after, test } from 'node:test';
import { behaviourSuite, SUITE_CLUSTER } from './behaviour/suite.ts';
import { openNativeCluster } from '../src/native/cluster.ts';
import { startNativeServer } from './native/server.ts';
import { caseSuite } from './behaviour/cases.ts';

const PROCESSES = { parallel: true, waitEvents: true } as const;

const server = await startNativeServer();

if (server.kind === 'ready') {
  const { url, stop } = server;
  const open = () => openNativeCluster({ ...SUITE_CLUSTER, url, schema: 'public' });
  after(stop);
  behaviourSuite('native', open, PROCESSES);
  caseSuite('native', open, PROCESSES);
} else {
  registerMissing(server.reason);
}

/** Without a server there is nothing to run: that may pass at home, never in CI. */
function registerMissing(reason: string): void {
  const message = `skipped: no server (${reason})`;
  test('native', { skip: process.env['CI'] ? false : message }, () => {
    throw new Error(`expected a PostgreSQL server in CI, found none: ${reason}`);
  });
}
