/** The result area of a race: loading, verdict, chart and ledger. */
import { describeBalance, signed, type SaleNow } from './describeSale.ts';
import type { Loading } from './describeLoading.ts';
import { partOf } from './partOf.ts';
import type { SoldChart } from './SoldChart.ts';

export class RaceView {
  readonly #root: HTMLElement;
  readonly #goods: string;
  readonly #most: number;
  #chart: SoldChart | null = null;

  /** `most` is the longest bar that can come. */
  constructor(root: HTMLElement, goods: string, most: number) {
    this.#root = root;
    this.#goods = goods;
    this.#most = most;
  }

  destroy(): void {
    this.#chart?.destroy();
    this.#chart = null;
  }

  /** Replaces what the live region says: announced once, at a run's end. */
  say(...content: HTMLElement[]): void {
    this.#part('verdict').replaceChildren(...content);
  }

  showLoading({ text, fraction }: Loading): void {
    this.#part('loading').hidden = false;
    this.#part('loading-text').textContent = text;
    const bar = partOf(this.#root, 'loading-bar', HTMLProgressElement);
    if (fraction === null) bar.removeAttribute('value');
    else bar.value = fraction;
  }

  hideLoading(): void {
    this.#part('loading').hidden = true;
  }

  /** From here on the figures are a live run's, and no longer the recorded one's. */
  draw(sale: SaleNow, Chart: typeof SoldChart): void {
    this.#part('recorded').hidden = true;
    if (this.#chart === null) {
      this.#part('bars').hidden = true;
      const canvas = partOf(this.#root, 'chart', HTMLCanvasElement);
      canvas.hidden = false;
      this.#chart = new Chart(canvas, this.#goods, this.#most, sale);
    } else this.#chart.update(sale);
    this.#fillLedger(sale);
  }

  #fillLedger(sale: SaleNow): void {
    const { stockBefore, stock, orders } = sale;
    this.#part('stock-before').textContent = String(stockBefore);
    this.#part('stock-now').textContent = String(stock);
    this.#part('stock-change').textContent = signed(stock - stockBefore);
    this.#part('orders-now').textContent = String(orders);
    this.#part('orders-change').textContent = signed(orders);
    const { tone, text } = describeBalance(sale);
    const balance = this.#part('balance');
    balance.className = tone;
    balance.textContent = text;
  }

  #part(name: string): HTMLElement {
    return partOf(this.#root, name, HTMLElement);
  }
}
