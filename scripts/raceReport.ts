/** The tables that `npm run race` prints. */
import type { Distribution } from '../src/events/distribution.ts';
import type { Summary } from '../src/events/summary.ts';

type Column = readonly [title: string, text: (summary: Summary) => string];

const COLUMNS: readonly Column[] = [
  ['cell', ({ lesson, cell }) => (lesson === null ? cell : `${lesson}/${cell}`)],
  ['seed', ({ seed }) => String(seed)],
  ['sold', ({ sold }) => count(sold)],
  ['stock', ({ stockBefore, stockAfter }) => `${count(stockBefore)} -> ${count(stockAfter)}`],
  ['oversold', ({ oversold }) => count(oversold)],
  ['deadlocks', ({ deadlocks }) => count(deadlocks)],
  ['40001', ({ serializationFailures }) => count(serializationFailures)],
  ['retries', ({ retries }) => count(retries)],
  ['balanced', ({ balanced }) => (balanced === null ? '-' : balanced ? 'yes' : 'NO')],
  ['clock', ({ clock }) => clock],
  ['seconds', ({ raceMs }) => (raceMs / 1000).toFixed(3)],
  ['wall s', ({ wallMs }) => (wallMs / 1000).toFixed(2)],
  ['server', ({ versions }) => `${versions.postgres}${versions.pglite === null ? '' : ` (PGlite ${versions.pglite})`}`],
  ['log', ({ logHash }) => logHash],
];

function count(value: number | null): string {
  return value === null ? '-' : String(value);
}

/** One line for each run, columns aligned. */
export function formatSummaries(summaries: readonly Summary[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...summaries.map((summary) => COLUMNS.map(([, text]) => text(summary))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function formatDistribution({ runs, oversold, deadlocks, retries, worstSeed }: Distribution): string {
  const spread = (name: string, value: Distribution['oversold']): string =>
    value === null ? '' : `${name.padEnd(10)} min ${value.min}, median ${value.median}, max ${value.max}`;
  return [
    `${runs} runs`,
    spread('oversold', oversold),
    spread('deadlocks', deadlocks),
    spread('retries', retries),
    `worst seed ${worstSeed}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}
