/**
 * The latencies of a virtual run: what lies between a client and its backend.
 *
 * A statement takes one way through the network, the time that the server
 * works, and the way back. Each part is drawn anew, uniformly from half to one
 * and a half times its mean. The means are those of a local server that
 * node-postgres talks to over loopback, whose races they reproduce within a
 * factor of two (design: "Measured with the proof").
 */
export interface Latency {
  /** Mean one-way time through the network, in milliseconds. */
  readonly networkMs: number;
  /** Mean service time of a statement, in milliseconds. */
  readonly serviceMs: number;
}

export const DEFAULT_LATENCY: Latency = { networkMs: 0.15, serviceMs: 0.1 };

/** Whole microseconds around a mean in milliseconds. */
export function draw(meanMs: number, random: () => number): number {
  return Math.round(meanMs * 1000 * (0.5 + random()));
}
