/** In a process of its own: what a cluster of so many sessions takes, each of which has run something. */
import { loadAssets } from '../src/engine/assets/node.ts';
import { openClusterFrom } from '../src/engine/index.ts';

const cluster = await openClusterFrom(await loadAssets(), { sessions: Number(process.argv[2]) });
await cluster.sessions[0]?.exec('create table t (n int); insert into t select generate_series(1, 1000)');
for (const session of cluster.sessions) await session.query('select sum(n) from t');
process.send?.(process.memoryUsage().rss, () => process.exit());
