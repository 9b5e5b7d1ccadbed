/** `npm run record`: writes the recorded run of every cell, or of those that are named. */
import { mkdir, writeFile } from 'node:fs/promises';
import { openCluster } from '../src/engine/index.ts';
import { findCell, findCells } from '../src/runner/node/findCell.ts';
import { recordCell, recordingUrl, type Recording } from '../src/runner/node/recordCell.ts';

const names = process.argv.slice(2);
const cells = names.length > 0 ? await Promise.all(names.map(findCell)) : await findCells();
for (const cell of cells) {
  const { connections: sessions, settings = {} } = cell.spec;
  const cluster = await openCluster({ sessions, settings, clock: 'virtual' });
  const recording = await recordCell(cluster, cell);
  await cluster.close();
  const url = recordingUrl(cell);
  await mkdir(new URL('.', url), { recursive: true });
  await writeFile(url, toText(recording));
  console.log(`${cell.id}: ${recording.summary.logHash}`);
}

/** One event a line, so that a difference can be read. */
function toText({ events, ...rest }: Recording): string {
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}
