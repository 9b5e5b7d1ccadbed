import type { AttemptEnded, LoggedValue } from './events.ts';

/**
 * What the folds look for in an attempt's note; a cell may add whatever else it
 * likes. A field of another type than said here is as good as absent.
 */
export interface Note {
  /** Stock that the attempt read before its write, and after it. */
  readonly stockBefore: number | null;
  readonly stockAfter: number | null;
  /** Units that it bought; 1 unless noted. */
  readonly units: number;
  /** The business key: two confirmed attempts that share one are one purchase made twice. */
  readonly key: string | null;
  readonly strategy: string | null;
  readonly message: string | null;
}

export function readNote(note: AttemptEnded['note']): Note {
  return {
    stockBefore: numberOrNull(note['stockBefore']),
    stockAfter: numberOrNull(note['stockAfter']),
    units: numberOrNull(note['units']) ?? 1,
    key: textOrNull(note['key'] ?? null),
    strategy: textOrNull(note['strategy']),
    message: textOrNull(note['message']),
  };
}

const numberOrNull = (value: LoggedValue | undefined) => (typeof value === 'number' ? value : null);

/** A key may be a number in its table. */
const textOrNull = (value: LoggedValue | undefined) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
