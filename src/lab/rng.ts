import { seededRandom } from '../engine/random.ts';
import { currentLab } from './context.ts';
import { LabError } from './labError.ts';

/** Seeded random numbers. The same seed and name give the same numbers on every machine. */
export interface Random {
  /** In [0, 1). */
  number(): number;
  /** A whole number from `from` to `to`, both included. */
  integer(from: number, to: number): number;
  /** One element. @throws LabError BAD_ARGUMENT for an empty list. */
  pick<T>(list: readonly T[]): T;
  /** A shuffled copy. */
  shuffle<T>(list: readonly T[]): T[];
  /** `count` elements at different places, in drawn order. */
  sample<T>(list: readonly T[], count: number): T[];
}

/**
 * A stream of numbers: a name gives numbers that follow the run's seed, a number
 * is a seed by itself and gives the same in every run. Asking for a name again
 * continues its stream.
 */
export function rng(stream: string | number): Random {
  return randomFrom(typeof stream === 'number' ? seededRandom(stream) : currentLab().streams(stream));
}

/** `next` draws from [0, 1). */
export function randomFrom(next: () => number): Random {
  const integer = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  const sample = <T>(list: readonly T[], count: number): T[] => {
    if (count > list.length) {
      throw new LabError('BAD_ARGUMENT', `sample: expected at most ${list.length}, the list's length; found ${count}.`);
    }
    const rest = [...list];
    return Array.from({ length: count }, () => rest.splice(integer(0, rest.length - 1), 1)[0] as T);
  };
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new LabError('BAD_ARGUMENT', 'pick: expected a list that is not empty.');
    return list[integer(0, list.length - 1)] as T;
  };
  return { number: next, integer, pick, sample, shuffle: (list) => sample(list, list.length) };
}
