/** What the lab's functions share in one run. A realm runs one cell, so one run is current at a time. */
import type { LabHost } from './host.ts';
import { LabError } from './labError.ts';
import { Attempts } from './attempts.ts';
import { SessionLedger } from './sessionLedger.ts';
import { Tracker } from './tracker.ts';
import { Watch } from './watch.ts';
import type { Doom } from './doom.ts';

export interface Lab {
  readonly host: LabHost;
  readonly tracker: Tracker;
  readonly sessions: SessionLedger;
  readonly attempts: Attempts;
  readonly watch: Watch;
  /** Customers who will die: see `doom.ts`. */
  readonly dooms: Map<number, Doom>;
  /** The host's random streams, each one opened once and then continued. */
  readonly streams: (name: string) => () => number;
  /** 1-based line of the cell in a stack trace, or null. */
  readonly lineOf: (stack: string) => number | null;
}

export interface HostOptions {
  /** Finds the cell's line in a stack trace; without it no event has a line. */
  readonly lineOf?: (stack: string) => number | null;
}

let current: Lab | undefined;

/** Starts a run: everything that the cell imports from the lab talks to `host` from now on. Returns its end. */
export function setHost(host: LabHost, options: HostOptions = {}): () => void {
  const tracker = new Tracker();
  const sessions = new SessionLedger(host);
  const lab: Lab = {
    host,
    tracker,
    sessions,
    attempts: new Attempts(host),
    watch: new Watch(host, tracker, sessions),
    dooms: new Map(),
    streams: openOnce((name) => host.random(name)),
    lineOf: options.lineOf ?? (() => null),
  };
  current = lab;
  return () => {
    lab.watch.dispose();
    if (current === lab) current = undefined;
  };
}

/** @throws LabError NO_RUN outside a run. */
export function currentLab(): Lab {
  if (current === undefined) {
    throw new LabError('NO_RUN', 'The lab has no run: setHost() was expected before the cell is imported.');
  }
  return current;
}

function openOnce<T>(open: (name: string) => T): (name: string) => T {
  const opened = new Map<string, T>();
  return (name) => {
    const found = opened.get(name) ?? open(name);
    opened.set(name, found);
    return found;
  };
}
