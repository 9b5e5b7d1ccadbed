/** The assets in a browser: fetched in parallel, unpacked, checked, with an error that says what to do. */
import { EngineError } from '../errors.ts';
import { Image } from '../store/image.ts';
import { isTar } from '../store/tar.ts';
import { BUNDLE_BYTES, PGLITE_VERSION, type EngineAssets } from './types.ts';

type AssetName = 'wasm' | 'bundle' | 'store';

export type AssetUrls = Readonly<Record<AssetName, string | URL>>;

/**
 * Bytes so far over all files, and how many there will be. The total is null
 * while a length is unknown: a host that compresses in transit tells the
 * compressed length but delivers the other.
 */
export type Progress = (loaded: number, total: number | null) => void;

/**
 * @throws EngineError ASSETS_UNAVAILABLE, naming the URL; what `signal` was aborted with.
 */
export async function fetchAssets(
  urls: AssetUrls,
  onProgress: Progress = () => {},
  signal?: AbortSignal,
): Promise<EngineAssets> {
  // The first failure ends the other downloads.
  const failed = new AbortController();
  const either = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const meter = createMeter(onProgress);
  const load = (name: AssetName): Promise<Uint8Array<ArrayBuffer>> =>
    fetchAsset(name, String(urls[name]), meter(), either);
  try {
    const [wasm, bundle, store] = await Promise.all([load('wasm'), load('bundle'), load('store')]);
    return { pgliteVersion: PGLITE_VERSION, wasm, bundle: bundle.buffer, store: Image.fromTar(store) };
  } catch (error) {
    signal?.throwIfAborted();
    failed.abort(error);
    throw error;
  }
}

interface Part {
  loaded: number;
  total: number | null;
}

/** Sums the parts; each call of the result adds one, and each call of that reports its state. */
function createMeter(onProgress: Progress): () => (state: Part) => void {
  const parts: Part[] = [];
  return () => {
    const index = parts.push({ loaded: 0, total: null }) - 1;
    return (state) => {
      parts[index] = state;
      const loaded = parts.reduce((sum, part) => sum + part.loaded, 0);
      const total = parts.reduce<number | null>((sum, part) => add(sum, part.total), 0);
      onProgress(loaded, total);
    };
  };
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

async function fetchAsset(
  name: AssetName,
  url: string,
  report: (state: Part) => void,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await request(url, signal);
  try {
    const bytes = await unpack(await readBody(response, report));
    const wrong = whatIsWrong(name, bytes);
    if (wrong === undefined) return bytes;
    throw unavailable(url, wrong);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof EngineError
      ? error
      : unavailable(url, `it is damaged or incomplete (${messageOf(error)})`, error);
  }
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unavailable(url, `the request failed (${messageOf(error)})`, error);
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw unavailable(url, `the server answered ${response.status} ${response.statusText}`.trimEnd());
}

async function readBody(response: Response, report: (state: Part) => void): Promise<Uint8Array<ArrayBuffer>> {
  const total = lengthOf(response);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  report({ loaded, total });
  const reader = response.body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) break;
    chunks.push(next.value);
    loaded += next.value.length;
    report({ loaded, total });
  }
  report({ loaded, total: loaded });
  return toBytes(new Response(new Blob(chunks)));
}

function lengthOf(response: Response): number | null {
  const length = response.headers.get('content-length');
  return length === null || response.headers.has('content-encoding') ? null : Number(length);
}

/**
 * Some hosts send `*.gz` with `Content-Encoding: gzip`, so that the browser has
 * unpacked it already. The bytes tell; the headers do not.
 */
async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return toBytes(new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))));
}

async function toBytes(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await response.arrayBuffer());
}

/** Hosts of single-page sites answer a missing file with a page and status 200. */
function whatIsWrong(name: AssetName, bytes: Uint8Array): string | undefined {
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  if (/^<(!doctype|html|\?xml)/i.test(start)) return 'it is a web page, so the file is not there';
  if (name === 'wasm') return start.startsWith('\0asm') ? undefined : 'it is not a WebAssembly module';
  if (name === 'store') return isTar(bytes) ? undefined : 'it is not a tar archive';
  return bytes.length === BUNDLE_BYTES
    ? undefined
    : `it has ${bytes.length} bytes instead of the ${BUNDLE_BYTES} of PGlite ${PGLITE_VERSION}`;
}

function unavailable(url: string, what: string, cause?: unknown): EngineError {
  return new EngineError(
    'ASSETS_UNAVAILABLE',
    `The database could not be loaded from ${url}: ${what}. Reload the page; if that does not help, the site was not deployed completely.`,
    { cause },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
