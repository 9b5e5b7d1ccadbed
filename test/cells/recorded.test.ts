/** A recorded run equals a fresh one; `npm run record` makes them anew when a change was meant. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openCluster } from '../../src/engine/index.ts';
import { hashLog } from '../../src/events/hashLog.ts';
import { findCells } from '../../src/runner/node/findCell.ts';
import { recordCell, recordingUrl, type Recording } from '../../src/runner/node/recordCell.ts';

for (const cell of await findCells()) {
  test(cell.id, async () => {
    const recorded = JSON.parse(await readFile(recordingUrl(cell), 'utf8')) as Recording;
    const { connections: sessions, settings = {} } = cell.spec;
    const cluster = await openCluster({ sessions, settings, clock: 'virtual' });
    const fresh = JSON.parse(JSON.stringify(await recordCell(cluster, cell))) as Recording;
    await cluster.close();
    assert.deepEqual(
      comparable(fresh),
      comparable(recorded),
      'the recording is out of date; if that was meant: npm run record',
    );
  });
}

/** Events by their hash: transaction and relation ids in them depend on the store that was booted. */
function comparable({ events, ...rest }: Recording): object {
  return { ...rest, count: events.length, events: hashLog(events) };
}
