/** Seeded random numbers: mulberry32, the same in every runtime (32-bit integer arithmetic only). */

/** Numbers in [0, 1), the same sequence for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Fills `into` with bytes from a stream (`random_get` on the virtual clock). */
export function fillRandom(into: Uint8Array, random: () => number): void {
  for (let index = 0; index < into.length; index++) into[index] = Math.floor(random() * 256);
}
