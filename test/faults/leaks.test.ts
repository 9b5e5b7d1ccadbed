/** Memory stays flat over many clusters, and over many runs in one. `OVERSOLD_LONG=1` runs the full counts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Sample } from './leakProbe.ts';
import { MIB } from './support.ts';

const PROBE = fileURLToPath(new URL('./leakProbe.ts', import.meta.url));
const LONG = process.env['OVERSOLD_LONG'] === '1';
const BOUND_MS = LONG ? 600_000 : 60_000;

async function probe(what: 'cycles' | 'runs', count: number): Promise<Sample[]> {
  const options = { timeout: BOUND_MS, maxBuffer: 16 * MIB };
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', PROBE, what, String(count)], options);
  return JSON.parse(stdout) as Sample[];
}

/** Means of a value over the second and the last quarter of the samples. */
function quarters(samples: readonly Sample[], value: keyof Sample): { second: number; last: number } {
  const quarter = samples.length / 4;
  const mean = (from: number): number => {
    const part = samples.slice(from, from + quarter);
    return part.reduce((sum, sample) => sum + sample[value], 0) / part.length;
  };
  return { second: mean(quarter), last: mean(3 * quarter) };
}

function report(samples: readonly Sample[], value: keyof Sample): string {
  const { second, last } = quarters(samples, value);
  return `${value}: ${(second / MIB).toFixed(1)} MiB in the second quarter, ${(last / MIB).toFixed(1)} MiB in the last`;
}

test('clusters that are closed leave nothing behind', { timeout: BOUND_MS }, async (context) => {
  const samples = await probe('cycles', LONG ? 200 : 24);
  context.diagnostic(report(samples, 'memory'));
  context.diagnostic(report(samples, 'rss'));
  const { second, last } = quarters(samples, 'memory');
  // A cluster holds some 400 MiB.
  assert.ok(last - second < 4 * MIB, report(samples, 'memory'));
});

test('runs in one cluster leave nothing behind', { timeout: BOUND_MS }, async (context) => {
  const samples = await probe('runs', LONG ? 1000 : 120);
  for (const value of ['memory', 'store', 'rss'] as const) context.diagnostic(report(samples, value));
  const { second, last } = quarters(samples, 'memory');
  // Emscripten keeps a name for each file that a session has ever seen: 2 kB for each run.
  assert.ok(last - second < (LONG ? 4 : 2) * MIB, report(samples, 'memory'));
  // The files that initdb made, and 16 MiB of log.
  assert.ok(Math.max(...samples.map(({ store }) => store)) < 36 * MIB, report(samples, 'store'));
});
