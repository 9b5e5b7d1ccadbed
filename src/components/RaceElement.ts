/** `<oversold-race>`: a button that runs a race, and what comes of it. */
import type { RaceSpec } from '../lessons/lesson.ts';
import { hasJspi } from '../runner/jspi.ts';
import type { RaceRunner, RaceState } from '../runner/runRace.ts';
import { describeError, NEEDS_JSPI } from './describeError.ts';
import { describeLoading } from './describeLoading.ts';
import { describeBalance, judgeSale, type Sale } from './judgeSale.ts';
import type { SoldChart } from './SoldChart.ts';

/** How often the elapsed time on the button is rewritten, in ms. */
const TICK = 100;

type Done = Extract<RaceState, { type: 'done' }>;

/** What is fetched at the first run and not before. */
interface Loaded {
  readonly runner: RaceRunner;
  readonly Chart: typeof SoldChart;
}

class RaceElement extends HTMLElement {
  #spec!: RaceSpec;
  #loaded: Promise<Loaded> | null = null;
  #runner: RaceRunner | null = null;
  #chart: SoldChart | null = null;
  #clock: ReturnType<typeof setInterval> | undefined;

  connectedCallback(): void {
    this.#spec = JSON.parse(this.dataset['spec'] ?? '') as RaceSpec;
    if (!hasJspi()) {
      this.#say(line(NEEDS_JSPI, 'plain'));
      return;
    }
    const button = this.#part('run', HTMLButtonElement);
    button.disabled = false;
    button.addEventListener('click', () => this.#press());
    this.#part('sessions', HTMLInputElement).addEventListener('change', () => this.#readSessions());
    addEventListener('pagehide', this.#leave);
  }

  disconnectedCallback(): void {
    removeEventListener('pagehide', this.#leave);
    this.#leave();
    this.#chart?.destroy();
    this.#chart = null;
  }

  readonly #leave = (): void => this.#runner?.dispose();

  #press(): void {
    if (this.#clock === undefined) void this.#run();
    else this.#stop();
  }

  async #run(): Promise<void> {
    this.#say();
    const clock = this.#startClock();
    this.#showLoading(describeLoading(null, false));
    try {
      this.#loaded ??= this.#load();
      const { runner } = await this.#loaded;
      if (this.#clock !== clock) return;
      const { cell, attempts, buyers, tally } = this.#spec;
      runner.start({ cell, plan: { attempts, buyers, tally }, sessions: this.#readSessions() });
    } catch {
      this.#loaded = null;
      this.#rest();
      this.#say(line('The code that runs the race could not be loaded. Check the connection and press Run again.'));
    }
  }

  /** Before the runner is there, only the wait for it ends. */
  #stop(): void {
    if (this.#runner === null) this.#showStopped();
    else this.#runner.stop();
  }

  async #load(): Promise<Loaded> {
    const [{ createRaceRunner }, { SoldChart: Chart }] = await Promise.all([
      import('../runner/runRace.ts'),
      import('./SoldChart.ts'),
    ]);
    const runner = createRaceRunner();
    runner.subscribe((state) => this.#show(state, Chart));
    this.#runner = runner;
    return { runner, Chart };
  }

  #show(state: RaceState, Chart: typeof SoldChart): void {
    switch (state.type) {
      case 'idle':
        return;
      case 'booting':
        return this.#showLoading(describeLoading(state.progress, true));
      case 'running':
        this.#part('loading').hidden = true;
        if (state.tally) this.#draw({ ...state.tally, stockBefore: this.#spec.stock, firstError: null }, Chart);
        return;
      case 'done':
        this.#rest();
        this.#draw(state.outcome, Chart);
        return this.#pronounce(state);
      case 'failed': {
        this.#rest();
        const { summary, more } = describeError(state.error);
        return this.#say(line(summary), ...(more === null ? [] : [small(more)]));
      }
      case 'stopped':
        return this.#showStopped();
    }
  }

  #showLoading({ text, fraction }: ReturnType<typeof describeLoading>): void {
    this.#part('loading').hidden = false;
    this.#part('loading-text').textContent = text;
    const bar = this.#part('loading-bar', HTMLProgressElement);
    if (fraction === null) bar.removeAttribute('value');
    else bar.value = fraction;
  }

  #showStopped(): void {
    this.#rest();
    this.#say(line('Stopped. What was running was cancelled and rolled back.', 'plain'));
  }

  #draw(sale: Sale, Chart: typeof SoldChart): void {
    this.#part('results').hidden = false;
    const { goods, attempts } = this.#spec;
    if (this.#chart) this.#chart.update(sale);
    else
      this.#chart = new Chart(
        this.#part('chart', HTMLCanvasElement),
        goods,
        Math.max(attempts, sale.stockBefore),
        sale,
      );
    this.#fillLedger(sale);
  }

  #fillLedger(sale: Sale): void {
    const { stockBefore, stock, orders } = sale;
    this.#write('stock-before', String(stockBefore));
    this.#write('stock-now', String(stock));
    this.#write('stock-change', signed(stock - stockBefore));
    this.#write('orders-now', String(orders));
    this.#write('orders-change', signed(orders));
    const { tone, text } = describeBalance(sale);
    this.#part('balance').replaceChildren(span(text, tone));
  }

  #pronounce({ outcome, sessions, versions }: Done): void {
    const { tone, figure, rest } = judgeSale(outcome, this.#spec.goods);
    const sentence = document.createElement('p');
    sentence.append(span(figure, tone), rest);
    const seconds = `${(outcome.milliseconds / 1000).toFixed(2)} s`;
    const plural = sessions === 1 ? '1 session' : `${sessions} sessions`;
    this.#say(
      sentence,
      small(`real clock · ${plural} · PostgreSQL ${versions.postgres} in this page · ran in ${seconds}`),
    );
  }

  #startClock(): ReturnType<typeof setInterval> {
    const startedAt = performance.now();
    const tick = (): void => this.#write('elapsed', `${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    this.#write('run-label', 'Stop');
    this.#part('run').dataset['running'] = '';
    this.#part('sessions', HTMLInputElement).disabled = true;
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
    this.#part('sessions', HTMLInputElement).disabled = false;
    this.#part('loading').hidden = true;
  }

  /** What the control says, brought into its range. */
  #readSessions(): number {
    const input = this.#part('sessions', HTMLInputElement);
    const { sessions, maxSessions } = this.#spec;
    const wanted = Number.isFinite(input.valueAsNumber) ? Math.round(input.valueAsNumber) : sessions;
    const allowed = Math.min(Math.max(wanted, 1), maxSessions);
    input.value = String(allowed);
    return allowed;
  }

  /** Replaces what the live region says: announced once, at a run's end. */
  #say(...content: HTMLElement[]): void {
    this.#part('verdict').replaceChildren(...content);
  }

  #write(name: string, text: string): void {
    this.#part(name).textContent = text;
  }

  #part(name: string): HTMLElement;
  #part<T extends HTMLElement>(name: string, type: new () => T): T;
  #part(name: string, type = HTMLElement): HTMLElement {
    const part = this.querySelector(`[data-part="${name}"]`);
    if (part instanceof type) return part;
    throw new Error(`Race.astro has no ${type.name} with data-part="${name}".`);
  }
}

function element(tag: 'p' | 'span' | 'small', text: string, className?: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

function line(text: string, className?: string): HTMLElement {
  return element('p', text, className);
}

function span(text: string, className: string): HTMLElement {
  return element('span', text, className);
}

function small(text: string): HTMLElement {
  return element('small', text);
}

function signed(change: number): string {
  if (change === 0) return '0';
  return change > 0 ? `+${change}` : `−${-change}`;
}

customElements.define('oversold-race', RaceElement);
