/** A benchmark's findings, and how they are printed. */

export interface Finding {
  readonly what: string;
  readonly value: number;
  readonly unit: 'ms' | 'MB' | 'bytes' | '×' | 'copies';
  /** What it may be at most; the budgets are of a machine with two cores. */
  readonly budget?: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds that each of `times` runs took. */
export async function time(times: number, run: () => Promise<void>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < times; index++) {
    const start = performance.now();
    await run();
    taken.push(performance.now() - start);
  }
  return taken;
}

/** Milliseconds per call, after a few to warm up. */
export async function perCall(calls: number, call: (index: number) => Promise<unknown>): Promise<number> {
  for (let index = 0; index < calls / 5; index++) await call(index);
  const [taken = Number.NaN] = await time(1, async () => {
    for (let index = 0; index < calls; index++) await call(index);
  });
  return taken / calls;
}

export function toTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, value, unit, budget }) => {
    const verdict = budget === undefined ? '' : `${value <= budget ? 'within' : 'OVER'} ${format(budget)} ${unit}`;
    return [what, `${format(value)} ${unit}`, verdict] as const;
  });
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  return rows
    .map(([what, value, verdict]) => `${what.padEnd(width(0))}  ${value.padStart(width(1))}  ${verdict}`.trimEnd())
    .join('\n');
}

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
