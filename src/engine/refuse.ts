/** Statements that need a server process which does not exist here. */
import { DatabaseError } from './errors.ts';

interface Refusal {
  readonly what: string;
  readonly instead: string;
}

const REPLICATION: Refusal = {
  what: 'Replication has no processes',
  instead: 'There is one server and no standby.',
};

/** Each of these waits for, or is carried out by, the postmaster or one of its auxiliary processes. */
const UNSUPPORTED: ReadonlyMap<string, Refusal> = new Map([
  [
    'database',
    {
      what: 'Databases cannot be created, dropped or altered',
      instead: 'Use a schema: CREATE SCHEMA name.',
    },
  ],
  [
    'tablespace',
    {
      what: 'Tablespaces cannot be created, dropped or altered',
      instead: 'All tables live in memory; leave the tablespace out.',
    },
  ],
  ['subscription', REPLICATION],
  ['publication', REPLICATION],
]);

/**
 * All of them refuse to run inside a transaction block or with other statements
 * in one message, so it is enough to look at how a text begins.
 *
 * @throws DatabaseError 0A000 (feature not supported) with a hint.
 */
export function refuseUnsupported(sql: string): void {
  const [verb = '', noun = ''] = firstWords(sql);
  const refusal = /^(create|drop|alter)$/.test(verb) ? UNSUPPORTED.get(noun) : undefined;
  if (refusal === undefined) return;
  throw new DatabaseError(`${refusal.what} in this engine: it needs a server process that a page does not have`, {
    severity: 'ERROR',
    code: '0A000',
    hint: refusal.instead,
  });
}

/** Up to two words in lower case, blanks and comments skipped. */
function firstWords(sql: string): string[] {
  // Piece by piece: one pattern for all would try the ends of comments in every combination.
  const piece = /\s+|--[^\n]*|\/\*[^]*?\*\/|(\w+)/y;
  const words: string[] = [];
  for (let found = piece.exec(sql); found !== null && words.length < 2; found = piece.exec(sql)) {
    if (found[1] !== undefined) words.push(found[1].toLowerCase());
  }
  return words;
}
