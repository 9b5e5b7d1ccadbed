/** Statements that need a server process which does not exist here. */
import { DatabaseError } from './errors.ts';

/** Each of these waits for, or is carried out by, the postmaster or one of its auxiliary processes. */
const UNSUPPORTED: readonly { readonly pattern: RegExp; readonly what: string; readonly instead: string }[] = [
  {
    pattern: /^(create|drop|alter)\s+database\b/i,
    what: 'Databases cannot be created, dropped or altered',
    instead: 'Use a schema: CREATE SCHEMA name.',
  },
  {
    pattern: /^(create|drop|alter)\s+tablespace\b/i,
    what: 'Tablespaces cannot be created, dropped or altered',
    instead: 'All tables live in memory; leave the tablespace out.',
  },
  {
    pattern: /^(create|drop|alter)\s+(subscription|publication)\b/i,
    what: 'Replication has no processes',
    instead: 'There is one server and no standby.',
  },
];

const LEADING_BLANKS = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*/;

/**
 * All of them refuse to run inside a transaction block or with other statements
 * in one message, so it is enough to look at how a text begins.
 *
 * @throws DatabaseError 0A000 (feature not supported) with a hint.
 */
export function refuseUnsupported(sql: string): void {
  const statement = sql.replace(LEADING_BLANKS, '');
  const found = UNSUPPORTED.find(({ pattern }) => pattern.test(statement));
  if (found === undefined) return;
  throw new DatabaseError(`${found.what} in this engine: it needs a server process that a page does not have`, {
    severity: 'ERROR',
    code: '0A000',
    hint: found.instead,
  });
}
