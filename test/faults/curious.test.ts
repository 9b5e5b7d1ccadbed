/** None of what a curious reader types hangs, traps, or stays behind after a reset. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startClusterThread } from '../../src/engine/nodeClient.ts';
import { CURIOSITIES } from './curious.ts';
import { isUsable, pairOf, within } from './support.ts';
import type { ClusterHandle } from '../../src/engine/handle.ts';
import type { DatabaseError } from '../../src/engine/index.ts';

/** In a thread, so that one that computes for ever is found, too. */
let cluster: ClusterHandle;
before(async () => void (cluster = await startClusterThread({ sessions: 3 })));
after(() => cluster.terminate());

const endOf = (sql: string): Promise<string> =>
  pairOf(cluster)[0]
    .exec(sql)
    .then(
      () => 'ok',
      (error: DatabaseError) => error.code ?? error.message,
    );

for (const [sql, ends] of CURIOSITIES) {
  const title = sql.replaceAll(/\s+/g, ' ').slice(0, 90);
  test(`${ends}: ${title}`, async () => {
    assert.equal(await within(endOf(sql)), ends);
    await isUsable(cluster);
  });
}
