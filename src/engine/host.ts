/** The worker's side of a start: opens a cluster when it is told to, then serves it. */
import { ClusterServer } from './serve.ts';
import { packError } from './packError.ts';
import type { LoadProgress, OpenArguments, Request } from './protocol.ts';
import type { ClientPort } from './served.ts';
import type { Cluster } from './types.ts';

export type OpenCluster = (args: OpenArguments, onProgress: (progress: LoadProgress) => void) => Promise<Cluster>;

export interface Host {
  /** For an error that nothing has caught: the cluster's state is unknown, so it counts as dead. */
  fail(error: unknown): void;
}

/** Waits for `open` on the port. A cluster that cannot be opened refuses the call with the reason. */
export function hostCluster(port: ClientPort, open: OpenCluster): Host {
  let fail = (error: unknown): void => port.postMessage({ type: 'failed', error: packError(error) });
  const stop = port.onMessage((message) => {
    if (message.type !== 'open') return;
    stop();
    void openAndServe(port, message, open).then((server) => {
      if (server !== null) fail = (error) => server.fail(error);
    });
  });
  return { fail: (error) => fail(error) };
}

/** Null when it could not be opened; the caller has been told why. */
async function openAndServe(
  port: ClientPort,
  { id, urls, sessions, settings, clock }: Request & { type: 'open' },
  open: OpenCluster,
): Promise<ClusterServer | null> {
  try {
    const cluster = await open({ urls, sessions, settings, clock }, (progress) =>
      port.postMessage({ type: 'progress', progress }),
    );
    const server = ClusterServer.of(cluster);
    server.serve(port);
    port.postMessage({ type: 'done', id, result: null });
    return server;
  } catch (error) {
    port.postMessage({ type: 'refused', id, error: packError(error) });
    return null;
  }
}
