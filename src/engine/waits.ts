/** Asks Postgres who waits for which lock. The same query serves the engine's observer and a native server's. */
import type { LockWait, Row } from './types.ts';

/**
 * One row for each backend of the current database that waits for a lock, in
 * the order in which they began to wait. Reads shared memory and the catalogs
 * only: it locks no user table, and a relation that was dropped, or created by
 * a transaction still open, gives a null name. `classid` and `objid` are not
 * read: an advisory lock's key is no relation.
 */
export const WAITS_SQL = `
select l.pid,
       l.locktype as "lockType",
       l.mode,
       case when n.nspname = 'public' then c.relname::text
            when n.nspname is not null then n.nspname || '.' || c.relname end as relation,
       l.page::int4 as page,
       l.tuple::int4 as tuple,
       l.transactionid::text as transaction,
       array(select distinct b from unnest(pg_blocking_pids(l.pid)) b order by b) as "blockedBy",
       a.query
from pg_locks l
join pg_stat_activity a on a.pid = l.pid and a.datname = current_database()
left join pg_class c on c.oid = l.relation
left join pg_namespace n on n.oid = c.relnamespace
where not l.granted
order by l.waitstart nulls last, l.pid`;

/**
 * Turns the rows of `WAITS_SQL` into waits. A row without blockers is dropped:
 * `pg_locks` and `pg_blocking_pids()` look at different moments, and that
 * session got its lock between the two.
 */
export function toLockWaits(rows: readonly Row[]): LockWait[] {
  return rows.map(toLockWait).filter((wait) => wait.blockedBy.length > 0);
}

function toLockWait(row: Row): LockWait {
  return {
    pid: Number(row['pid']),
    lockType: String(row['lockType']),
    mode: String(row['mode']),
    relation: textOrNull(row['relation']),
    page: numberOrNull(row['page']),
    tuple: numberOrNull(row['tuple']),
    transaction: textOrNull(row['transaction']),
    blockedBy: toPids(row['blockedBy']),
    query: String(row['query']),
  };
}

function toPids(value: unknown): number[] {
  if (!Array.isArray(value)) throw new TypeError(`expected blockedBy as an array of pids, found ${typeof value}`);
  return value.map(Number);
}

const textOrNull = (value: unknown) => (value === null ? null : String(value));
const numberOrNull = (value: unknown) => (value === null ? null : Number(value));
