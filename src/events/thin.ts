import type { RunEvent, RunEventType } from './events.ts';
import { pickEvenly } from './pickEvenly.ts';

export interface ThinnedLog {
  /** In their order, unchanged. Counts taken from them are not the run's: keep those beside them. */
  readonly events: readonly RunEvent[];
  readonly leftOut: number;
}

const FRAME: ReadonlySet<RunEventType> = new Set(['run-started', 'run-ended', 'tally'] satisfies RunEventType[]);

/** Events of the sessions in a deadlock that are kept before its victim's error, and after it. */
const BEFORE_DEADLOCK = 24;
const AFTER_DEADLOCK = 8;

/**
 * At most `limit` events of a log (more only if the frame alone is more), for a
 * recorded run. What is most worth its place comes first: the frame, deadlocks and outcomes,
 * samples at even distances (a quarter of the room), what led to each deadlock, and then the
 * run from its beginning, whole, for as long as there is room: a timeline with
 * every tenth event would show nothing.
 */
export function thinLog(events: readonly RunEvent[], limit: number): ThinnedLog {
  if (events.length <= limit) return { events, leftOut: 0 };
  const kept = new Set<number>(indices(events, ({ type }) => FRAME.has(type)));
  const room = () => Math.max(0, limit - kept.size);
  const keep = (chosen: readonly number[]) => chosen.forEach((index) => kept.add(index));
  keep(pickEvenly(indices(events, isDeadlock), room()));
  keep(
    pickEvenly(
      indices(events, ({ type }) => type === 'outcome'),
      room(),
    ),
  );
  keep(
    pickEvenly(
      indices(events, ({ type }) => type === 'sample'),
      Math.ceil(room() / 4),
    ),
  );
  for (const index of [...findNeighbours(events), ...events.keys()]) if (room() > 0) kept.add(index);
  return { events: events.filter((_, index) => kept.has(index)), leftOut: events.length - kept.size };
}

function indices(events: readonly RunEvent[], test: (event: RunEvent) => boolean): number[] {
  return [...events.keys()].filter((index) => test(events[index] as RunEvent));
}

const isDeadlock = (event: RunEvent) => event.type === 'query-failed' && event.code === '40P01';

/** What the sessions of each deadlock did around it; the first deadlock's first. */
function findNeighbours(events: readonly RunEvent[]): number[] {
  return indices(events, isDeadlock).flatMap((index) => {
    const involved = findInvolved(events, index);
    const concerns = (i: number) => involved.has(events[i]?.session ?? -1);
    const before = takeWhere(index, -1, BEFORE_DEADLOCK, events.length, concerns);
    return [...before, ...takeWhere(index, 1, AFTER_DEADLOCK, events.length, concerns)];
  });
}

/** The victim, who blocked it, and who blocked those when it failed. */
function findInvolved(events: readonly RunEvent[], failure: number): ReadonlySet<number> {
  const victim = events[failure]?.session ?? -1;
  const involved = new Set([victim]);
  // The set grows while it is walked: each blocker's blockers follow. The victim's own wait has just ended.
  for (const session of involved) {
    findBlockers(events, failure, session, session !== victim).forEach((blocker) => involved.add(blocker));
  }
  return involved;
}

/** Of the session's last wait before `index`; none when that had ended and `unended` is asked for. */
function findBlockers(
  events: readonly RunEvent[],
  index: number,
  session: number,
  unended: boolean,
): readonly number[] {
  for (let i = index; i >= 0; i--) {
    const event = events[i];
    if (event?.session !== session) continue;
    if (event.type === 'lock-wait') return event.blockedBy;
    if (event.type === 'lock-wait-ended' && unended) return [];
  }
  return [];
}

function takeWhere(
  from: number,
  step: 1 | -1,
  count: number,
  length: number,
  test: (index: number) => boolean,
): number[] {
  const taken: number[] = [];
  for (let i = from + step; i >= 0 && i < length && taken.length < count; i += step) if (test(i)) taken.push(i);
  return taken;
}
