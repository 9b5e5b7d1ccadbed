/** `<oversold-reproduce>`: runs every recorded cell again, one after another, and compares the logs. */
import type { CellRunner } from '../runner/createRunner.ts';
import { hasJspi } from '../runner/jspi.ts';
import type { EndState } from '../runner/state.ts';
import { describeError, NEEDS_JSPI } from './describeError.ts';
import { inSeconds } from './describeRun.ts';
import { element, partOf } from './partOf.ts';
import type { ReproduceData } from './reproduce.ts';

type Ending = 'same' | 'different' | 'failed' | 'stopped';

class ReproduceElement extends HTMLElement {
  #runner: CellRunner | null = null;
  /** Of the round under way; aborted by Stop. */
  #round: AbortController | null = null;

  connectedCallback(): void {
    const button = partOf(this, 'run', HTMLButtonElement);
    if (!hasJspi()) return this.#say(NEEDS_JSPI);
    button.disabled = false;
    button.addEventListener('click', () => (this.#round === null ? void this.#runAll() : this.#stop()));
    addEventListener('pagehide', this.#leave);
  }

  disconnectedCallback(): void {
    removeEventListener('pagehide', this.#leave);
    this.#leave();
  }

  readonly #leave = (): void => {
    this.#round?.abort();
    this.#runner?.dispose();
  };

  #stop(): void {
    this.#round?.abort();
    this.#runner?.stop();
  }

  async #runAll(): Promise<void> {
    const round = new AbortController();
    this.#begin(round);
    try {
      this.#say(summarise(await this.#runRows(round.signal)));
    } catch {
      this.#say('The code that runs the cells could not be loaded. Check the connection and press Run all again.');
    }
    this.#round = null;
    this.#write(this, 'run', 'Run all again');
    this.#write(this, 'progress', '');
    delete partOf(this, 'run', HTMLElement).dataset['running'];
  }

  #begin(round: AbortController): void {
    this.#round = round;
    this.#say('');
    this.#write(this, 'run', 'Stop');
    partOf(this, 'run', HTMLElement).dataset['running'] = '';
    for (const row of this.#rows()) for (const part of ['here', 'wall']) this.#write(row, part, '');
  }

  async #runRows(signal: AbortSignal): Promise<Ending[]> {
    const { createRunner, planRun, runToEnd } = await import('../runner/createRunner.ts');
    const runner = (this.#runner ??= createRunner());
    const endings: Ending[] = [];
    const rows = this.#rows();
    for (const [index, row] of rows.entries()) {
      if (signal.aborted) return [...endings, 'stopped'];
      const { cell, seed, connections: sessions, logHash } = JSON.parse(row.dataset['run'] ?? '') as ReproduceData;
      this.#write(this, 'progress', `${index + 1} of ${rows.length}: ${cell}`);
      this.#write(row, 'here', '…');
      const state = await runToEnd(runner, planRun(cell, { seed, sessions }));
      endings.push(this.#fill(row, state, logHash));
    }
    return endings;
  }

  #fill(row: HTMLElement, state: EndState, recorded: string): Ending {
    if (state.type !== 'done') {
      const text = state.type === 'stopped' ? 'stopped' : describeError(state.error).summary;
      partOf(row, 'here', HTMLElement).replaceChildren(element('span', text, 'bad'));
      return state.type;
    }
    const { logHash, sold, deadlocks, retries, raceMs, wallMs } = state.summary;
    const values = { sold, deadlocks, retries, seconds: inSeconds(raceMs), wall: wallMs };
    for (const [part, value] of Object.entries(values)) this.#write(row, part, String(value));
    const same = logHash === recorded;
    const verdict = same
      ? [element('span', '✓ same', 'ok')]
      : [element('span', '✕ different', 'bad'), element('small', logHash)];
    partOf(row, 'here', HTMLElement).replaceChildren(...verdict);
    return same ? 'same' : 'different';
  }

  #rows(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>('[data-run]')];
  }

  #say(text: string): void {
    this.#write(this, 'verdict', text);
  }

  #write(root: HTMLElement, part: string, text: string): void {
    partOf(root, part, HTMLElement).textContent = text;
  }
}

/** Announced once, at the end of a round. */
function summarise(endings: readonly Ending[]): string {
  const count = (ending: Ending): number => endings.filter((other) => other === ending).length;
  if (count('stopped') > 0) return `Stopped. Of the runs before that, ${count('same')} had the recorded log.`;
  if (count('same') === endings.length) return `All ${endings.length} logs are the same as recorded.`;
  const failed = count('failed') > 0 ? `, ${count('failed')} failed` : '';
  return `${count('same')} of ${endings.length} logs are the same as recorded, ${count('different')} differ${failed}.`;
}

customElements.define('oversold-reproduce', ReproduceElement);
