/** The cluster's worker in a browser. */
import { fetchAssets } from './assets/fetch.ts';
import { openClusterFrom } from './cluster.ts';
import { EngineError } from './errors.ts';
import { hostCluster } from './host.ts';
import { fromEventTarget } from './port.ts';
import type { EventTargetLike } from './port.ts';
import type { FromServer, ToServer } from './protocol.ts';

// The library of types is a page's, whose postMessage differs.
const scope = globalThis as unknown as EventTargetLike;

const host = hostCluster(fromEventTarget<FromServer, ToServer>(scope), async (args, onProgress) => {
  if (args.urls === null) throw new EngineError('ASSETS_UNAVAILABLE', 'A browser worker needs the URLs of its files.');
  const assets = await fetchAssets(args.urls, (loaded, total) => onProgress({ loaded, total }));
  return openClusterFrom(assets, { sessions: args.sessions, settings: args.settings, clock: args.clock });
});

// A rejection that nobody handles is not reported to the page by itself.
addEventListener('unhandledrejection', (event) => host.fail(event.reason));
addEventListener('error', (event) => host.fail(event.error ?? event.message));
