/** `npm run race`: a lesson's cell in Node, on the engine or on a real server. */
import { parseArgs } from 'node:util';
import { openCluster } from '../src/engine/index.ts';
import type { Cluster } from '../src/engine/types.ts';
import { distribute } from '../src/events/distribution.ts';
import { createTally } from '../src/events/tally.ts';
import { summarise, type Summary } from '../src/events/summary.ts';
import { openNativeCluster } from '../src/native/cluster.ts';
import { findCell, type FoundCell } from '../src/runner/node/findCell.ts';
import { runCell } from '../src/runner/node/runCell.ts';
import { formatDistribution, formatSummaries } from './raceReport.ts';

const USAGE = `npm run race -- LESSON/CELL [options]
  --seed N         the seed of the first run (1)
  --seeds K        that many runs, each with the next seed, and their distribution
  --connections N  sessions, 1 to 40 (the cell's own)
  --clock real     the machine's clock instead of the virtual one
  --url URL        a real server, through pg, on the machine's clock (postgres://user:password@host:port/database);
                   works in a schema of its own, which it drops at the end
  --json           one object on the last line of stdout`;

interface Options {
  readonly cell: FoundCell;
  readonly seed: number;
  readonly seeds: number;
  readonly connections: number;
  readonly clock: 'virtual' | 'real';
  readonly url: string | undefined;
  readonly json: boolean;
}

async function readOptions(): Promise<Options> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      connections: { type: 'string' },
      clock: { type: 'string' },
      url: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit();
  }
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) throw new Error(`Expected one cell; got ${positionals.length}.\n\n${USAGE}`);
  const cell = await findCell(id);
  const connections = values.connections ?? String(cell.spec.connections);
  return {
    cell,
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1),
    seeds: wholeNumber('--seeds', values.seeds, 1, 10_000),
    connections: wholeNumber('--connections', connections, 1, 40),
    clock: clockOf(values.clock, values.url),
    url: values.url,
    json: values.json,
  };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name} must be a whole number from ${least} to ${most}; got '${text}'.`);
}

function clockOf(clock: string | undefined, url: string | undefined): 'virtual' | 'real' {
  if (clock !== undefined && clock !== 'virtual' && clock !== 'real') {
    throw new Error(`--clock must be 'virtual' or 'real'; got '${clock}'.`);
  }
  if (url !== undefined && clock === 'virtual')
    throw new Error("A real server runs on the machine's clock: leave --clock virtual out.");
  return url === undefined ? (clock ?? 'virtual') : 'real';
}

function open({ cell, connections: sessions, clock, url }: Options): Promise<Cluster> {
  const { settings = {} } = cell.spec;
  if (url !== undefined) return openNativeCluster({ sessions, settings, url });
  return openCluster({ sessions, settings, clock });
}

/** Runs one seed. The progress line goes to stderr, which a pipe does not see. */
async function runOnce(cluster: Cluster, { cell }: Options, seed: number, signal: AbortSignal): Promise<Summary> {
  const tally = createTally();
  const show = progressLine(
    () =>
      `seed ${seed}: ${tally.value.attempts} attempts, ${tally.value.retries} retries, ${tally.value.deadlocks} deadlocks`,
  );
  const { events, wallMs, error } = await runCell(cluster, cell, {
    seed,
    signal,
    onEvent(event) {
      tally.add(event);
      show();
    },
  });
  clearLine();
  if (error !== null) throw error;
  return summarise(events, Math.round(wallMs));
}

function progressLine(text: () => string): () => void {
  let shownAt = 0;
  return () => {
    if (!process.stderr.isTTY || performance.now() - shownAt < 100) return;
    shownAt = performance.now();
    process.stderr.write(`\r\x1b[K${text()}`);
  };
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

async function main(): Promise<void> {
  const options = await readOptions();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const cluster = await open(options);
  try {
    const summaries: Summary[] = [];
    for (let seed = options.seed; seed < options.seed + options.seeds && !stop.signal.aborted; seed++) {
      summaries.push(await runOnce(cluster, options, seed, stop.signal));
    }
    report(options, stop.signal.aborted ? summaries.slice(0, -1) : summaries);
    if (stop.signal.aborted) process.exitCode = 130;
  } finally {
    await cluster.close();
  }
}

function report({ json, seeds }: Options, summaries: readonly Summary[]): void {
  const [only] = summaries;
  if (only === undefined) return;
  const many = seeds > 1 ? distribute(summaries) : undefined;
  console.log(formatSummaries(summaries));
  if (many !== undefined) console.log(`\n${formatDistribution(many)}`);
  if (json) console.log(JSON.stringify(many === undefined ? only : { ...many, summaries }));
}

try {
  await main();
} catch (error) {
  clearLine();
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
