/** Who waits for what, in words, when nothing can happen any more. */
import type { SessionReport } from './host.ts';
import type { Lease } from './sessionLedger.ts';
import type { Customer, Operation } from './tracker.ts';

type Waiting = readonly [customer: number, waitsFor: readonly Operation[]];

interface Scene {
  readonly customers: readonly Waiting[];
  readonly leases: readonly Lease[];
  readonly reports: ReadonlyMap<number, SessionReport>;
}

const UNKNOWN = 'something that the lab knows nothing of';

export function describeStuck(
  customers: readonly Waiting[],
  leases: Iterable<Lease>,
  reports: readonly SessionReport[],
): string {
  const scene = { customers, leases: [...leases], reports: new Map(reports.map((r) => [r.session, r])) };
  const parts = [...forConnections(scene), ...forLocks(scene), ...forMessages(scene), ...forUnknown(scene)];
  return parts.length > 0
    ? `Nothing can happen any more: ${parts.join('; ')}.`
    : `Nothing can happen any more: the cell awaits ${UNKNOWN}.`;
}

function forConnections(scene: Scene): string[] {
  const waiting = whoAwait(scene, ({ kind }) => kind === 'connection');
  const cellWaits = waiting.length === 0 && scene.customers.length === 0 && scene.leases.length > 0;
  if (waiting.length === 0 && !cellWaits) return [];
  const held = scene.leases.map((lease) => `${holder(lease.customer)}, ${stateOf(scene, lease.session)}`);
  const who = cellWaits ? 'the cell waits' : `${people(scene, waiting)} ${verb(waiting, 'wait')}`;
  return [`${who} for a connection`, ...heldBy(held)];
}

function heldBy(held: readonly string[]): string[] {
  if (held.length === 0) return [];
  if (held.length === 1) return [`1 connection is held by ${held[0]}`];
  const shown = held.slice(0, 4).join('; by ');
  return [`${held.length} connections are held: by ${shown}${held.length > 4 ? '; and so on' : ''}`];
}

function forLocks(scene: Scene): string[] {
  return scene.customers.flatMap(([customer, operations]) =>
    operations.flatMap(({ kind, session }) => {
      const report = session === null ? undefined : scene.reports.get(session);
      if (kind !== 'query') return [];
      return [`customer ${customer} waits for ${report?.wait ? lockOf(scene, report) : `session ${session}'s answer`}`];
    }),
  );
}

function lockOf(scene: Scene, report: SessionReport): string {
  const holders = report.blockedBy.map((session) => {
    const lease = scene.leases.find((candidate) => candidate.session === session);
    if (!lease) return `session ${session}, ${stateOf(scene, session)}`;
    return `session ${session} (${holder(lease.customer)}), which ${awaits(scene, lease)}`;
  });
  return `a ${lockName(report)}${holders.length > 0 ? ` held by ${holders.join(' and by ')}` : ''}`;
}

/** `transactionid` and `tuple` are how Postgres waits for a row. */
function lockName({ wait }: SessionReport): string {
  const type = wait?.lockType ?? 'unknown';
  if (type === 'transactionid' || type === 'tuple') return 'row lock';
  return type === 'relation' ? `table lock${wait?.relation ? ` on ${wait.relation}` : ''}` : `lock (${type})`;
}

function awaits(scene: Scene, lease: Lease): string {
  const operations = scene.customers.find(([customer]) => customer === lease.customer)?.[1];
  const [first] = operations ?? [];
  if (operations === undefined) return `is ${stateOf(scene, lease.session)}`;
  if (first === undefined) return `awaits ${UNKNOWN}`;
  const things = {
    connection: 'a connection',
    message: 'a message',
    sleep: 'a timer',
    timer: 'a timer',
    race: 'a race',
  };
  return `waits for ${first.kind === 'query' ? 'a lock' : things[first.kind]}`;
}

function forMessages(scene: Scene): string[] {
  const waiting = whoAwait(scene, ({ kind }) => kind === 'message');
  return waiting.length > 0 ? [`${people(scene, waiting)} ${verb(waiting, 'wait')} for a message`] : [];
}

function forUnknown(scene: Scene): string[] {
  const idle = scene.customers.filter(([, operations]) => operations.length === 0).map(([customer]) => customer);
  return idle.length > 0 ? [`${people(scene, idle)} ${verb(idle, 'await')} ${UNKNOWN}`] : [];
}

function whoAwait(scene: Scene, test: (operation: Operation) => boolean): number[] {
  return scene.customers.filter(([, operations]) => operations.some(test)).map(([customer]) => customer);
}

function stateOf(scene: Scene, session: number): string {
  const report = scene.reports.get(session);
  if (report?.wait) return 'waiting for a lock';
  return report?.inTransaction ? 'idle in transaction' : 'idle';
}

function holder(customer: Customer): string {
  return customer === null ? 'the cell itself' : `customer ${customer}`;
}

function people(scene: Scene, customers: readonly number[]): string {
  if (customers.length === 1) return `customer ${customers[0]}`;
  if (customers.length === scene.customers.length) return `all ${customers.length} customers`;
  const rest = customers.length > 5 ? [`${customers.length - 4} more`] : [];
  const names = [...customers.slice(0, rest.length > 0 ? 4 : 5).map(String), ...rest];
  return `customers ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function verb(customers: readonly number[], plural: string): string {
  return customers.length === 1 ? `${plural}s` : plural;
}
