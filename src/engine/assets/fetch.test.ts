import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeTar } from '../store/tar.ts';
import { fetchAssets, type AssetUrls } from './fetch.ts';
import { BUNDLE_BYTES } from './types.ts';

const wasm = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const bundle = new Uint8Array(BUNDLE_BYTES).fill(7, 100, 200);
const data = new TextEncoder().encode('18\n');
const tar = writeTar([{ path: 'PG_VERSION', kind: 'file', mode: 0o600, data }]);

type Answer = (response: ServerResponse) => void;

const send =
  (body: Uint8Array | string, headers: Record<string, string> = {}, status = 200): Answer =>
  (response) => {
    const bytes = Buffer.from(body);
    response.writeHead(status, { 'content-length': String(bytes.length), ...headers });
    response.end(bytes);
  };

const answers: Record<string, Answer> = {
  '/wasm': send(wasm),
  '/bundle.gz': send(gzipSync(bundle)),
  '/bundle-raw': send(bundle),
  '/store.gz': send(gzipSync(tar)),
  '/store-encoded.gz': send(gzipSync(tar), { 'content-encoding': 'gzip' }),
  '/page': send('\n<!DOCTYPE html><title>Not found</title>'),
  '/gone': send('gone', {}, 404),
  '/cut.gz': send(gzipSync(tar).subarray(0, 60)),
  '/cut-tar': send(tar.subarray(0, 600)),
  '/dropped': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half', () => response.destroy());
  },
  '/slow': () => {},
};

let server: Server;
let base = '';

before(async () => {
  server = createServer((request, response) => answers[request.url ?? '']?.(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

function urls(changed: Partial<Record<keyof AssetUrls, string>> = {}): AssetUrls {
  const paths = { wasm: '/wasm', bundle: '/bundle.gz', store: '/store.gz', ...changed };
  return { wasm: base + paths.wasm, bundle: base + paths.bundle, store: base + paths.store };
}

function rejects(changed: Partial<Record<keyof AssetUrls, string>>, message: RegExp): Promise<void> {
  return assert.rejects(fetchAssets(urls(changed)), { name: 'EngineError', code: 'ASSETS_UNAVAILABLE', message });
}

test('unpacks what is packed and takes what a host has unpacked', async () => {
  for (const changed of [{}, { store: '/store-encoded.gz', bundle: '/bundle-raw' }]) {
    const assets = await fetchAssets(urls(changed));
    assert.deepEqual(assets.wasm, wasm);
    assert.deepEqual(new Uint8Array(assets.bundle), bundle);
    assert.deepEqual(assets.store.open().readFile('PG_VERSION'), data);
  }
});

test('reports bytes over all files, and a total once every length is known', async () => {
  const reports: [number, number | null][] = [];
  await fetchAssets(urls(), (loaded, total) => reports.push([loaded, total]));
  const all = wasm.length + gzipSync(bundle).length + gzipSync(tar).length;
  assert.deepEqual(reports.at(-1), [all, all]);
  assert.ok(reports.every(([loaded], i) => i === 0 || loaded >= (reports[i - 1]?.[0] ?? 0)));
});

test('names the address, the status and what to do', async () => {
  await rejects({ wasm: '/gone' }, /from http:\/\/127.*\/gone: the server answered 404 Not Found\. Reload the page/);
});

test('recognises a page with status 200, for every file', async () => {
  for (const name of ['wasm', 'bundle', 'store'] as const)
    await rejects({ [name]: '/page' }, /\/page: it is a web page/);
});

test('recognises files that are not what they should be', async () => {
  await rejects({ wasm: '/store.gz' }, /\/store\.gz: it is not a WebAssembly module/);
  await rejects({ store: '/wasm' }, /\/wasm: it is not a tar archive/);
  await rejects({ bundle: '/wasm' }, /\/wasm: it has 8 bytes instead of the 6241295 of PGlite/);
});

test('recognises incomplete files', async () => {
  await rejects({ store: '/cut.gz' }, /\/cut\.gz: it is damaged or incomplete/);
  await rejects({ store: '/dropped' }, /\/dropped: it is damaged or incomplete/);
  await assert.rejects(fetchAssets(urls({ store: '/cut-tar' })), /archive of the data directory is damaged/);
});

test('names the address when nobody answers', async () => {
  await assert.rejects(
    fetchAssets({ ...urls(), wasm: 'http://127.0.0.1:9/wasm' }),
    /127\.0\.0\.1:9\/wasm: the request failed/,
  );
});

test('rejects with the reason of its signal', async () => {
  const stop = new AbortController();
  const loading = fetchAssets(urls({ store: '/slow' }), undefined, stop.signal);
  const reason = new Error('the reader left');
  setTimeout(() => stop.abort(reason), 20);
  await assert.rejects(loading, (error) => error === reason);
});
