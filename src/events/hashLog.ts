import type { RunEvent } from './events.ts';
import { foldAll, type Fold } from './fold.ts';
import { Fnv64 } from './fnv.ts';
import { createNormalise, type Normalise } from './normalise.ts';

/**
 * 16 hexadecimal digits that two runs share when, and practically only when, the
 * same happened in them: the same events in the same order at the same times.
 * Left out: versions of PGlite and PostgreSQL, and what `normalise.ts` replaces in
 * the texts that Postgres wrote. Not cryptographic.
 */
export function hashLog(events: Iterable<RunEvent>): string {
  return foldAll(createLogHash(), events);
}

export function createLogHash(): Fold<string> {
  const hash = new Fnv64();
  const normalise = createNormalise();
  const encoder = new TextEncoder();
  return {
    add: (event) => hash.add(encoder.encode(`${JSON.stringify(canonical(reduce(event, normalise)))}\n`)),
    get value() {
      return hash.digest;
    },
  };
}

/** The event without what may differ between two runs that are the same. */
function reduce(event: RunEvent, normalise: Normalise): object {
  const text = (value: string | null) => value && normalise(value);
  switch (event.type) {
    case 'run-started':
      return { ...event, versions: null };
    case 'run-ended':
    case 'notice':
      return { ...event, message: text(event.message) };
    case 'query-failed':
      return { ...event, message: text(event.message), detail: text(event.detail), hint: text(event.hint) };
    case 'outcome':
      return { ...event, note: mapStrings(event.note, normalise) };
    case 'console':
      return { ...event, text: text(event.text) };
    default:
      return event;
  }
}

function mapStrings(value: unknown, map: Normalise): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  // Sorted here already: the order in which numbers first appear must not depend on the order of keys.
  return Object.fromEntries(sortedEntries(value).map(([key, item]) => [key, mapStrings(item, map)]));
}

/** The same value with its keys in one order, whatever the order in which they were set. */
function canonical(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  return Object.fromEntries(sortedEntries(value).map(([key, item]) => [key, canonical(item)]));
}

function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
