/** What is refused at the start: runtimes, builds, settings; and hooks that break. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { loadAssets } from '../../src/engine/assets/node.ts';
import { PGLITE_VERSION } from '../../src/engine/assets/types.ts';
import { openClusterFrom } from '../../src/engine/index.ts';
import { parseModule } from '../../src/engine/wasm/module.ts';
import { brokenAssets, fails, isUsable, open, withCluster } from './support.ts';

const ENGINE = new URL('../../src/engine/index.ts', import.meta.url);

async function runWithout(feature: string): Promise<string> {
  const script = `delete WebAssembly.${feature};
    const { openCluster } = await import(${JSON.stringify(ENGINE.href)});
    await openCluster({ sessions: 1 }).then(() => console.log('opened'), (e) => console.log(e.code, e.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
  });
  return stdout;
}

for (const feature of ['Suspending', 'promising']) {
  test(`a runtime without WebAssembly.${feature} is told apart`, async () => {
    assert.match(await runWithout(feature), /^UNSUPPORTED_RUNTIME /);
  });
}

async function refusesBuild(damage: (wasm: Uint8Array) => void, found: RegExp): Promise<void> {
  const assets = await loadAssets();
  const wasm = Uint8Array.from(assets.wasm);
  damage(wasm);
  const opening = openClusterFrom({ ...assets, wasm }, { sessions: 1 });
  await assert.rejects(opening, ({ code, message }: Error & { code: string }) => {
    assert.equal(code, 'INCOMPATIBLE_PGLITE');
    assert.ok(message.includes(PGLITE_VERSION), message);
    assert.match(message, found);
    return true;
  });
}

/** The first place of `pattern`, which must be there. */
function find(bytes: Uint8Array, pattern: string | readonly number[]): number {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(
    typeof pattern === 'string' ? pattern : Uint8Array.from(pattern),
  );
  assert.notEqual(at, -1, `no ${String(pattern)}`);
  return at;
}

/** Overwrites one character of an import's or export's name. */
const rename = (name: string) => (wasm: Uint8Array) =>
  void (wasm[find(wasm, [name.length, ...Buffer.from(name)]) + 1] = 0x58);

const DAMAGES: Record<string, readonly [(wasm: Uint8Array) => void, RegExp]> = {
  'no WebAssembly at all': [(wasm) => wasm.fill(0, 0, 8), /not a WebAssembly module/],
  'no export WaitLatch': [rename('WaitLatch'), /no exported function WaitLatch/],
  'no export MyProcPid': [rename('MyProcPid'), /no exported variable MyProcPid/],
  'no export MyLatch': [rename('MyLatch'), /no export MyLatch/],
  'no import for the hook of WaitLatch': [rename('__syscall_connect'), /no imported function __syscall_connect/],
  'another kill()': [
    (wasm) => void (wasm[killAt(wasm) + 4] = 43),
    /0 functions look like kill\(\) where 1 was expected/,
  ],
  'another check of getpid()': [
    (wasm) => void (wasm[pidCheckAt(wasm) + 1] = 43),
    /3 checks of getpid\(\) where 4 were expected/,
  ],
};
for (const [what, [damage, found]] of Object.entries(DAMAGES)) {
  test(`a build with ${what} is refused`, () => refusesBuild(damage, found));
}

/** `kill()` begins: no locals, `if (p0 == 42)`. */
const killAt = (wasm: Uint8Array): number => find(wasm, [0x00, 0x20, 0, 0x41, 42, 0x46, 0x04, 0x40, 0x20, 1, 0x10]);

/** The constant in the first `MyProcPid != 42`. */
function pidCheckAt(wasm: Uint8Array): number {
  const address = parseModule(wasm).exportedAddresses.get('MyProcPid') ?? 0;
  const load = [0x41, ...signed(address), 0x28, 2, 0];
  for (const operator of [0x46, 0x47]) {
    const pattern = Uint8Array.from([...load, 0x41, 42, operator]);
    const at = Buffer.from(wasm.buffer, wasm.byteOffset, wasm.length).indexOf(pattern);
    if (at !== -1) return at + load.length;
  }
  throw new Error('no check of MyProcPid');
}

function signed(value: number): number[] {
  const out: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    if (rest < 64) return [...out, rest];
    out.push((rest & 0x7f) | 0x80);
  }
}

test('settings that Postgres refuses: its own words', async () => {
  const start = (settings: Record<string, string>): Promise<unknown> => open({ sessions: 1, settings });
  await fails(
    start({ no_such_setting: '1' }),
    'CLUSTER_FAILED',
    /did not start: FATAL: .*unrecognized configuration parameter "no_such_setting"/,
  );
  await fails(start({ work_mem: 'much' }), 'CLUSTER_FAILED', /invalid value for parameter "work_mem": "much"/);
});

test('settings that the engine needs: the engine refuses', async () => {
  const start = (settings: Record<string, string>): Promise<unknown> => open({ sessions: 1, settings });
  await fails(start({ shared_buffers: '8MB' }), 'BAD_ARGUMENT', /depends on shared_buffers = 1MB/);
  await fails(start({ Max_Stack_Depth: '8MB' }), 'BAD_ARGUMENT', /max_stack_depth|Max_Stack_Depth/);
  await fails(start({ 'a b': '1' }), 'BAD_ARGUMENT', /no name of a Postgres setting/);
  await fails(start({ work_mem: 4 as unknown as string }), 'BAD_ARGUMENT', /must be text/);
});

for (const sessions of [0, -1, 41, 1.5, Number.NaN, '2' as unknown as number]) {
  test(`${String(sessions)} sessions (${typeof sessions}) are refused`, () =>
    fails(open({ sessions }), 'BAD_ARGUMENT', /1 to 40/));
}

test('a hook that throws ends the cluster with its reason; a new one works', async () => {
  const { assets, fault } = await brokenAssets();
  const cluster = await openClusterFrom(assets, { sessions: 2 });
  const [a, b] = cluster.sessions;
  assert.ok(a && b);
  const pending = b.query('select pg_sleep(60)');
  pending.catch(() => {});
  fault.armed = true;
  await fails(a.query('select * from pg_ts_dict, pg_opfamily, pg_conversion'), 'CLUSTER_FAILED', /the hook is broken/);
  fault.armed = false;
  for (const call of [pending, a.query('select 1'), cluster.reset(), cluster.waits()])
    await fails(call, 'CLUSTER_FAILED');
  await withCluster({ sessions: 2 }, isUsable);
});

test('a third session that cannot boot ends the cluster', async () => {
  const { assets, fault } = await brokenAssets();
  const cluster = await openClusterFrom(assets, { sessions: 3, boot: 'lazy' });
  const [a, b, c] = cluster.sessions;
  assert.ok(a && b && c);
  await Promise.all([a.query('select 1'), b.query('select 1')]);
  fault.armed = true;
  await fails(c.query('select 1'), 'CLUSTER_FAILED', /the hook is broken/);
  fault.armed = false;
  await fails(a.query('select 1'), 'CLUSTER_FAILED');
  await cluster.close();
});

test('a session that would have to wait in order to boot ends the cluster', async () => {
  await withCluster({ sessions: 2, boot: 'lazy' }, async (_cluster, a, b) => {
    await a.exec('begin; lock table pg_authid, pg_database in access exclusive mode');
    await fails(b.query('select 1'), 'CLUSTER_FAILED', /has to wait for a lock/);
    await fails(a.query('select 1'), 'CLUSTER_FAILED');
  });
});
