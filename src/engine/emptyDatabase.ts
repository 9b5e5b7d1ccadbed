/**
 * The statements that empty a database of everything that a run can have made.
 * `public` gets the owner and rights that initdb gives it.
 */
export const EMPTY_DATABASE: readonly string[] = [
  `do $reset$
declare
  statement text;
begin
  for statement in
    select format('drop event trigger %I', evtname) from pg_event_trigger
    union all
    select format('drop schema %I cascade', nspname) from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  loop
    execute statement;
  end loop;
  for statement in
    select format('drop extension %I cascade', extname) from pg_extension where extname <> 'plpgsql'
    union all
    select format('drop foreign data wrapper %I cascade', fdwname) from pg_foreign_data_wrapper
  loop
    execute statement;
  end loop;
  perform lo_unlink(oid) from pg_largeobject_metadata;
  for statement in
    select unnest(array[format('drop owned by %I cascade', rolname), format('drop role %I', rolname)])
    from pg_roles where rolname !~ '^pg_' and rolname <> 'postgres'
  loop
    execute statement;
  end loop;
  for statement in
    select case
      when setrole = 0 then format('alter database %I reset all', current_database())
      else format('alter role %I reset all', (select rolname from pg_roles where oid = setrole))
    end
    from pg_db_role_setting
  loop
    execute statement;
  end loop;
  -- Nothing else makes a checkpoint (see max_wal_size), and until then the log stays in memory.
  if pg_current_wal_insert_lsn() - (pg_control_checkpoint()).redo_lsn > 16 * 1024 * 1024 then
    execute 'checkpoint';
  end if;
end
$reset$`,
  'create schema public authorization pg_database_owner; grant usage on schema public to public',
];

/**
 * Each run leaves dead rows in the catalogs: some 10 kB. Done after so many
 * resets, by count and not by time, so that the same runs give the same files.
 */
export const TIDY_CATALOGS = 'vacuum (skip_locked)';
export const TIDY_EVERY = 50;
