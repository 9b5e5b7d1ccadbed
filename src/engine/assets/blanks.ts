/**
 * Which files of PGlite's bundle are left out, and why. What a session can
 * reach by SQL is left out only where Postgres then reports a plain error that
 * says so; `left-out.test.ts` touches each kind.
 *
 * Kept on purpose: plpgsql, the Snowball stemmer and stop words
 * (`to_tsvector('english', ...)`), all time zones and their abbreviations, and
 * ICU's licence.
 */
export interface Reason {
  readonly why: string;
  readonly filler: 'zeros' | 'text' | 'library';
}

interface Rule extends Reason {
  readonly files: RegExp;
}

const LIB = '^/pglite/lib/postgresql/';
const SHARE = '^/pglite/share/postgresql/';

const RULES: readonly Rule[] = [
  {
    files: new RegExp(`${LIB}(\\w+_and_\\w+|euc2004_sjis2004)\\.so$`),
    why:
      'Conversions between encodings. PGlite lacks functions that they call (LocalToUtf, UtfToLocal, ...): the first character outside ASCII ' +
      'ends the backend, in the package as published, too. convert_to() and client_encoding now report that the library is left out.',
    filler: 'library',
  },
  {
    files: new RegExp(`${LIB}(libpqwalreceiver|pgoutput)\\.so$`),
    why: 'Replication; PGlite lacks functions that they call, too, and there is no network. CREATE SUBSCRIPTION reports that the library is left out.',
    filler: 'library',
  },
  {
    files: /^\/pglite\/icu\/icudt\d+l\/coll\//,
    why: 'ICU collations. COLLATE "de-x-icu" reports that the collator cannot be opened; the database itself uses libc.',
    filler: 'zeros',
  },
  {
    files: new RegExp(`${SHARE}[^/]+\\.(bki|sql|txt|sample)$`),
    why: 'Read by initdb only, which ran when the image was made.',
    filler: 'text',
  },
  {
    files: new RegExp(`${LIB}pgxs/`),
    why: 'Makefiles and test drivers for building extensions.',
    filler: 'text',
  },
];

/** Why the file is left out; undefined when it stays. */
export function reasonToBlank(path: string): Reason | undefined {
  return RULES.find((rule) => rule.files.test(path));
}
