/** How the postgres processes of a cluster are started. */
import { EngineError } from './errors.ts';

/** Most sessions of one cluster. */
export const MAX_SESSIONS = 40;
/** Beside the sessions: the observer, and one that is being replaced. */
const SPARE_CONNECTIONS = 3;

/** PGlite's own arguments, single-user mode and no fsync, without `-O`: system catalogs are protected as on a server. */
const PGLITE_ARGUMENTS = ['--single', '-F', '-j'];

/**
 * Settings that the engine depends on. `-c` in the order given; the sessions'
 * number sizes the arrays in shared memory, all of which is copied between turns.
 */
function engineSettings(sessions: number): Record<string, string> {
  return {
    // PGlite's defaults: there are no other processes.
    exit_on_error: 'false',
    log_checkpoints: 'false',
    max_worker_processes: '0',
    max_parallel_workers: '0',
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    io_method: 'sync',
    io_max_concurrency: '1',
    autovacuum: 'off',
    max_connections: String(sessions + SPARE_CONNECTIONS),
    superuser_reserved_connections: '0',
    reserved_connections: '0',
    max_wal_senders: '0',
    max_replication_slots: '0',
    max_active_replication_origins: '0',
    max_prepared_transactions: '0',
    // A suspended stack is about 1 MB in V8: Postgres' own 54001 has to come first.
    max_stack_depth: '500kB',
    // Small shared memory. Statistics counters would outgrow it and take a dynamic segment.
    shared_buffers: '1MB',
    wal_buffers: '64kB',
    track_counts: 'off',
    track_activity_query_size: '512',
    max_locks_per_transaction: '24',
    max_pred_locks_per_transaction: '24',
    min_dynamic_shared_memory: '2MB',
    transaction_buffers: '16',
    subtransaction_buffers: '16',
    commit_timestamp_buffers: '16',
    multixact_offset_buffers: '16',
    multixact_member_buffers: '16',
    serializable_buffers: '16',
    notify_buffers: '16',
    // No checkpoint in the middle of a race, little log, and none of it kept.
    max_wal_size: '10GB',
    min_wal_size: '2MB',
    checkpoint_timeout: '1d',
    // Every change of a page changes its LSN: bufferPages.ts relies on that.
    wal_level: 'replica',
    full_page_writes: 'off',
    wal_recycle: 'off',
    wal_init_zero: 'off',
  };
}

/**
 * @throws EngineError BAD_ARGUMENT for a number of sessions out of range, and
 *   for a setting with an impossible name or one that the engine depends on.
 */
export function startParams(sessions: number, settings: Readonly<Record<string, string>>): string[] {
  checkSessions(sessions);
  const own = engineSettings(sessions);
  for (const [name, value] of Object.entries(settings)) checkSetting(name, value, own);
  return [
    ...PGLITE_ARGUMENTS,
    ...Object.entries({ ...own, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

function checkSessions(sessions: number): void {
  if (Number.isInteger(sessions) && sessions >= 1 && sessions <= MAX_SESSIONS) return;
  throw new EngineError(
    'BAD_ARGUMENT',
    `sessions must be a whole number from 1 to ${MAX_SESSIONS}; got ${String(sessions)}.`,
  );
}

function checkSetting(name: string, value: unknown, own: Record<string, string>): void {
  if (!/^[a-z_][a-z0-9_.]*$/i.test(name))
    throw new EngineError('BAD_ARGUMENT', `'${name}' is no name of a Postgres setting.`);
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new EngineError(
      'BAD_ARGUMENT',
      `The setting ${name} must be text, as in { ${name}: '200ms' }; got ${typeof value}.`,
    );
  }
  if (name.toLowerCase() in own) {
    throw new EngineError(
      'BAD_ARGUMENT',
      `The engine depends on ${name} = ${own[name.toLowerCase()]}; it cannot be changed.`,
    );
  }
}
