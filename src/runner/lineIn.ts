/**
 * The 1-based line of the first frame of a stack trace that lies in the file with this URL, or null.
 * Only of what is on the stack now: V8 also lists who awaits that, Firefox does not, and the line is part of a log
 * that is the same in both.
 */
export function lineIn(stack: string, url: string): number | null {
  const [present = ''] = stack.split(AWAITING, 1);
  const at = present.indexOf(url);
  if (at < 0) return null;
  const [, line] = /^:(\d+)/.exec(present.slice(at + url.length)) ?? [];
  return line === undefined ? null : Number(line);
}

/** How the first frame of the code that awaits begins: `at async buy (…` in V8, `async*buy@…` in Firefox. */
const AWAITING = /^\s*at async |^(?:async|promise callback)\*/m;
