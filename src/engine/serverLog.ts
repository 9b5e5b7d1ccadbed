/** The end of what a postgres process has printed: why it did not start, or died. */

const LINES_KEPT = 20;
/** What precedes the level is `log_line_prefix`: a time and a pid. */
const IMPORTANT = /(?:PANIC|FATAL|ERROR|HINT|DETAIL): .*/;

export class ServerLog {
  readonly #lines: string[] = [];

  add(text: string): void {
    this.#lines.push(text);
    if (this.#lines.length > LINES_KEPT) this.#lines.shift();
  }

  /** What it complained of, in its own words; empty if it said nothing. */
  get complaints(): string {
    return this.#lines.flatMap((line) => IMPORTANT.exec(line)?.[0] ?? []).join(' ');
  }

  /** The error after which a server ends itself, if it did. */
  get panic(): string | undefined {
    return this.#lines.map((line) => /PANIC: .*/.exec(line)?.[0]).findLast((line) => line !== undefined);
  }
}
