/**
 * Serves dist/ as any plain static host would: no special headers, no rewriting.
 *
 *   npm run serve -- [--port 4321] [--host 127.0.0.1] [--base /course/] [--dir dist]
 *
 * A port in use is passed over for the next one, up to twenty times.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { parseArgs } from 'node:util';

const PORTS_TO_TRY = 20;

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.xml': 'application/xml',
};

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: process.env.PORT ?? '4321' },
    host: { type: 'string', default: '127.0.0.1' },
    base: { type: 'string', default: process.env.OVERSOLD_BASE ?? '/' },
    dir: { type: 'string', default: 'dist' },
  },
});
const dir = resolve(values.dir);
const base = `/${values.base}/`.replace(/\/{2,}/g, '/');

function parsePort(text) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    fail(`--port takes a number from 0 to 65535, not "${text}".`);
  return port;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The file that an address stands for, or null. A folder stands for its index.html. */
function findFile(pathname) {
  const path = normalize(join(dir, pathname));
  if (path !== dir && !path.startsWith(dir + sep)) return null;
  for (const candidate of [path, join(path, 'index.html')]) {
    const stats = statSync(candidate, { throwIfNoEntry: false });
    if (stats?.isFile()) return { path: candidate, size: stats.size };
  }
  return null;
}

function decodePath(url) {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
}

function send(response, status, { path, size }, withBody) {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  // Names below _astro/ hold a hash of what is in the file: another content has another name.
  const cache = path.includes(`${sep}_astro${sep}`) ? 'public, max-age=31536000, immutable' : 'no-cache';
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': size, 'Cache-Control': cache });
  if (withBody) pipeline(createReadStream(path), response, () => undefined);
  else response.end();
}

function answer(request, response) {
  const path = decodePath(request.url ?? '/');
  if (`${path}/` === base) {
    response.writeHead(301, { Location: base }).end();
    return;
  }
  const withBody = request.method === 'GET';
  const file = path?.startsWith(base) && !path.includes('\0') ? findFile(path.slice(base.length)) : null;
  const missing = findFile('404.html');
  if (!withBody && request.method !== 'HEAD') response.writeHead(405, { Allow: 'GET, HEAD' }).end();
  else if (file !== null) send(response, 200, file, withBody);
  else if (missing !== null) send(response, 404, missing, withBody);
  else response.writeHead(404).end();
}

function listen(server, port, attemptsLeft) {
  server.once('error', (error) => {
    if (error.code !== 'EADDRINUSE' || attemptsLeft === 0)
      fail(`Cannot listen on ${values.host}:${port}: ${error.message}`);
    listen(server, port + 1, attemptsLeft - 1);
  });
  server.listen(port, values.host);
}

/** The addresses to print: one, or with a wildcard host one for each network interface. */
function addresses(port) {
  const wildcard = values.host === '0.0.0.0' || values.host === '::';
  if (!wildcard) return [`http://${values.host.includes(':') ? `[${values.host}]` : values.host}:${port}${base}`];
  return Object.values(networkInterfaces())
    .flat()
    .filter((address) => address?.family === 'IPv4')
    .map((address) => `http://${address.address}:${port}${base}`);
}

if (!existsSync(join(dir, 'index.html'))) fail(`There is no site in ${values.dir}: run "npm run build" first.`);
const server = createServer(answer);
server.once('listening', () => {
  server.removeAllListeners('error');
  for (const address of addresses(server.address().port)) console.log(`Serving the site at ${address}`);
});
listen(server, parsePort(values.port), PORTS_TO_TRY);
