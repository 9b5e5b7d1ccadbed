/** `<oversold-race>`: a button that runs a race, and what comes of it. */
import { foldTally } from '../events/tally.ts';
import { judge, type Verdict } from '../events/verdict.ts';
import type { CellRunner, planRun } from '../runner/createRunner.ts';
import { hasJspi } from '../runner/jspi.ts';
import type { RunState } from '../runner/state.ts';
import { describeError, NEEDS_JSPI } from './describeError.ts';
import { describeLoading } from './describeLoading.ts';
import { compareLogs, describeRun } from './describeRun.ts';
import { element, partOf } from './partOf.ts';
import type { RaceData } from './race.ts';
import { RaceControls } from './RaceControls.ts';
import { RaceView } from './RaceView.ts';
import { RANGES } from './settings.ts';
import type { SoldChart } from './SoldChart.ts';

/** How often the elapsed time on the button is rewritten, in ms. */
const TICK = 100;

/** What is fetched at the first run and not before. */
interface Loaded {
  readonly runner: CellRunner;
  readonly plan: typeof planRun;
}

class RaceElement extends HTMLElement {
  #data!: RaceData;
  #controls!: RaceControls;
  #view!: RaceView;
  #loaded: Promise<Loaded> | null = null;
  #runner: CellRunner | null = null;
  #clock: ReturnType<typeof setInterval> | undefined;
  /** Whether chart and ledger show figures of the run that is under way or was the last. */
  #hasDrawn = false;

  connectedCallback(): void {
    this.#data = JSON.parse(this.dataset['race'] ?? '') as RaceData;
    const { cell, goods, attempts, stockBefore, recorded } = this.#data;
    this.#view = new RaceView(this, goods, Math.max(attempts, stockBefore));
    if (!hasJspi()) {
      const lacking = this.#part('lacking');
      lacking.textContent = NEEDS_JSPI;
      lacking.hidden = false;
      return;
    }
    const presets = { seed: recorded.seed, sessions: recorded.connections };
    this.#controls = new RaceControls(this, cell.replace(/^.*\//, ''), presets);
    this.#controls.disabled = false;
    partOf(this, 'run', HTMLButtonElement).disabled = false;
    this.#part('run').addEventListener('click', () => this.#press());
    this.#part('next').addEventListener('click', () => this.#runNext());
    addEventListener('pagehide', this.#leave);
  }

  disconnectedCallback(): void {
    removeEventListener('pagehide', this.#leave);
    this.#leave();
    this.#view.destroy();
  }

  readonly #leave = (): void => this.#runner?.dispose();

  #press(): void {
    if (this.#clock === undefined) void this.#run();
    else this.#stop();
  }

  #runNext(): void {
    const { seed, sessions } = this.#controls.settings;
    this.#controls.settings = { seed: seed < RANGES.seed.most ? seed + 1 : RANGES.seed.least, sessions };
    // This button is about to be disabled; the other one then says Stop.
    this.#part('run').focus();
    void this.#run();
  }

  async #run(): Promise<void> {
    this.#hasDrawn = false;
    this.#view.say();
    const clock = this.#startClock();
    this.#view.showLoading(describeLoading(null, false));
    try {
      this.#loaded ??= this.#load();
      const { runner, plan } = await this.#loaded;
      if (this.#clock === clock) runner.start(plan(this.#data.cell, this.#controls.settings));
    } catch {
      this.#loaded = null;
      this.#rest();
      const text = 'The code that runs the race could not be loaded. Check the connection and press Run again.';
      this.#view.say(element('p', text));
    }
  }

  /** Before the runner is there, only the wait for it ends. */
  #stop(): void {
    if (this.#runner === null) this.#showStopped();
    else this.#runner.stop();
  }

  async #load(): Promise<Loaded> {
    const [{ createRunner, planRun: plan }, { SoldChart: Chart }] = await Promise.all([
      import('../runner/createRunner.ts'),
      import('./SoldChart.ts'),
    ]);
    const runner = createRunner();
    runner.subscribe((state) => this.#show(state, Chart));
    this.#runner = runner;
    return { runner, plan };
  }

  #show(state: RunState, Chart: typeof SoldChart): void {
    switch (state.type) {
      case 'idle':
        return;
      case 'booting':
        return this.#view.showLoading(describeLoading(state.progress, true));
      case 'running':
        return this.#showProgress(state, Chart);
      case 'done':
        return this.#showDone(state, Chart);
      case 'failed': {
        this.#rest();
        const { summary, more } = describeError(state.error);
        return this.#view.say(element('p', summary), ...(more === null ? [] : [element('small', more)]));
      }
      case 'stopped':
        return this.#showStopped();
    }
  }

  #showProgress({ log }: RunState & { type: 'running' }, Chart: typeof SoldChart): void {
    this.#view.hideLoading();
    const { stockBefore } = this.#data;
    const seen = log.events.findLast((event) => event.type === 'sample');
    if (seen === undefined) return;
    this.#hasDrawn = true;
    this.#view.draw({ stockBefore, stock: seen.stock, orders: seen.orders }, Chart);
  }

  #showDone({ log, summary }: RunState & { type: 'done' }, Chart: typeof SoldChart): void {
    this.#rest();
    const tally = foldTally(log.events);
    if (tally.sale !== null) {
      const { stockBefore, stockAfter: stock, sold: orders } = tally.sale;
      this.#view.draw({ stockBefore, stock, orders }, Chart);
    }
    const logs = compareLogs(summary, this.#data.recorded);
    const verdict = toSentence(judge(tally, this.#data));
    this.#view.say(verdict, element('small', describeRun(summary)), element('small', logs));
  }

  #showStopped(): void {
    this.#rest();
    const text = this.#hasDrawn
      ? 'Stopped. What was running was rolled back; the figures are those committed by then.'
      : 'Stopped. Nothing had been sold yet.';
    this.#view.say(element('p', text, 'plain'));
  }

  #startClock(): ReturnType<typeof setInterval> {
    const startedAt = performance.now();
    const tick = (): void => this.#write('elapsed', `${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    this.#write('run-label', 'Stop');
    this.#part('run').dataset['running'] = '';
    this.#controls.disabled = true;
    tick();
    this.#clock = setInterval(tick, TICK);
    return this.#clock;
  }

  /** As before a run, but for what it left to read. */
  #rest(): void {
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#write('run-label', 'Run again');
    this.#write('elapsed', '');
    delete this.#part('run').dataset['running'];
    this.#controls.disabled = false;
    this.#view.hideLoading();
  }

  #write(name: string, text: string): void {
    this.#part(name).textContent = text;
  }

  #part(name: string): HTMLElement {
    return partOf(this, name, HTMLElement);
  }
}

/** The figure comes first and carries the colour. */
function toSentence({ tone, figure, sentence }: Verdict): HTMLElement {
  const line = document.createElement('p');
  line.append(element('span', sentence.slice(0, figure.length), tone), sentence.slice(figure.length));
  return line;
}

customElements.define('oversold-race', RaceElement);
