/**
 * Numbers that Postgres hands out as it goes (process ids, transaction ids,
 * OIDs) differ between the first and the tenth run of a cluster although nothing
 * else does. Within one log they become ordinals of first appearance.
 */

type Kind = 'pid' | 'xid' | 'vxid' | 'relation' | 'database' | 'object' | 'token' | 'oid';

type Rule = readonly [kind: Kind, pattern: RegExp];

/** Each pattern ends in the number that is replaced. */
const ANYWHERE: readonly Rule[] = [
  ['pid', /(\bblocked by process )(\d+)/g],
  ['pid', /(\bProcess )(\d+)(?= waits for )/g],
  ['pid', /(\bprocess )(\d+)(?= (?:still waiting|acquired|detected|avoided))/g],
  ['pid', /(\bPID )(\d+)/g],
  ['relation', /(\brelation )(\d+)/g],
  ['database', /(\bdatabase )(\d+)/g],
  ['oid', /(\bOID )(\d+)/g],
];

/** Only in what `DescribeLockTag` writes after a lock's mode: a reader's own text may say "transaction 2". */
const IN_LOCK_TAG: readonly Rule[] = [
  ['vxid', /(\bvirtual transaction )(\d+\/\d+)/g],
  ['xid', /(\btransaction )(\d+)(?!\/)/g],
  ['token', /(\bspeculative token )(\d+)/g],
  ['object', /(\bobject )(\d+)/g],
  // The first of an advisory lock's four numbers is the database; the others are the reader's.
  ['database', /(\badvisory lock \[)(\d+)/g],
];

const LOCK_TAG = /\b\w*Lock on [^;.\n]*/g;

/** Replaces, always with the same ordinals for the same numbers, in the order in which it meets them. */
export type Normalise = (text: string) => string;

export function createNormalise(): Normalise {
  const seen = new Map<string, string>();
  const counts = new Map<Kind, number>();
  const ordinal = (kind: Kind, number: string): string => {
    const known = seen.get(`${kind} ${number}`);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    seen.set(`${kind} ${number}`, `<${kind}#${count}>`);
    return `<${kind}#${count}>`;
  };
  const apply = (text: string, rules: readonly Rule[]): string =>
    rules.reduce(
      (sofar, [kind, pattern]) =>
        sofar.replace(pattern, (_, lead: string, number: string) => lead + ordinal(kind, number)),
      text,
    );
  return (text) =>
    /\d/.test(text)
      ? apply(
          text.replace(LOCK_TAG, (tag) => apply(tag, IN_LOCK_TAG)),
          ANYWHERE,
        )
      : text;
}
