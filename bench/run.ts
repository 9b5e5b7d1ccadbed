/** `node bench/run.ts [--json]`: all benchmarks, as a table; with `--json` also as the last line. */
import { benchEngine } from './engine.ts';
import { benchRaces } from './races.ts';
import { toTable, type Finding } from './report.ts';

const BENCHES: readonly (() => Promise<Finding[]>)[] = [benchEngine, benchRaces];

const findings: Finding[] = [];
for (const bench of BENCHES) findings.push(...(await bench()));
console.log(toTable(findings));
if (process.argv.includes('--json')) console.log(JSON.stringify(findings));
process.exit();
