import { seededRandom } from '../engine/random.ts';

/** The stream of that name in a run with that seed; the same over every host (as `PortHost` has it). */
export function seededStream(seed: number, stream: string): () => number {
  return seededRandom((seed * 2654435761) ^ hashName(stream));
}

/** FNV-1a, 32 bits. */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash;
}
