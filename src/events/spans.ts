import type { RunEvent, RunEventType } from './events.ts';
import { foldAll, type Fold } from './fold.ts';
import { LaneFold, type Mark, type Span, type SpanKind } from './lane.ts';

export interface Lane {
  /** Of the session or customer. */
  readonly index: number;
  /** In order; they never overlap. Where there is none the lane is idle. */
  readonly spans: readonly Span[];
  /** In the order of the log. */
  readonly marks: readonly Mark[];
}

export interface Timeline {
  /** A lane for each session of the run, by index. */
  readonly sessions: readonly Lane[];
  /** A lane for each customer seen so far, by index. */
  readonly customers: readonly Lane[];
  /** µs: the last event so far. Spans still open end here. */
  readonly end: number;
}

/** What shows in a session's lane. Its customer's sleep does not: the session is idle, perhaps in a transaction. */
const IN_SESSION: ReadonlySet<RunEventType> = new Set([
  'query-sent',
  'query-started',
  'lock-wait',
  'lock-wait-ended',
  'query-done',
  'query-failed',
  'transaction',
] satisfies RunEventType[]);

export function foldSpans(events: Iterable<RunEvent>): Timeline {
  return foldAll(createSpans(), events);
}

export function createSpans(): Fold<Timeline> {
  const sessions = new Map<number, LaneFold>();
  const customers = new Map<number, LaneFold>();
  let end = 0;
  return {
    add(event) {
      end = Math.max(end, event.at);
      if (event.type === 'run-started') for (let i = 0; i < event.sessions; i++) laneOf(sessions, i);
      if (event.session !== null && IN_SESSION.has(event.type)) laneOf(sessions, event.session).add(event);
      if (event.customer !== null) laneOf(customers, event.customer).add(event);
    },
    get value() {
      return { sessions: toLanes(sessions, end), customers: toLanes(customers, end), end };
    },
  };
}

/** Microseconds that a lane spent in each kind of span. */
export function sumSpans({ spans }: Lane): Readonly<Record<SpanKind, number>> {
  const sums = { running: 0, 'lock-wait': 0, network: 0, 'connection-wait': 0, sleeping: 0, 'idle-in-transaction': 0 };
  for (const { kind, from, to } of spans) sums[kind] += to - from;
  return sums;
}

function laneOf(lanes: Map<number, LaneFold>, index: number): LaneFold {
  const known = lanes.get(index);
  if (known !== undefined) return known;
  const lane = new LaneFold();
  lanes.set(index, lane);
  return lane;
}

function toLanes(lanes: ReadonlyMap<number, LaneFold>, end: number): Lane[] {
  return [...lanes].sort(([a], [b]) => a - b).map(([index, lane]) => ({ index, ...lane.snapshot(end) }));
}
