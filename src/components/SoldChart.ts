/** The one place that knows Chart.js: orders sold, and the stock column, against what there was to sell. */
import { BarController, BarElement, CategoryScale, Chart, LinearScale, type Plugin } from 'chart.js';
import { describeBars, type SaleNow } from './describeSale.ts';

Chart.register(BarController, BarElement, CategoryScale, LinearScale);

interface Colours {
  readonly sold: string;
  readonly bad: string;
  readonly stock: string;
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly card: string;
}

const LABELS = ['orders', 'stock column'];
const HATCH = 8;

export class SoldChart {
  readonly #canvas: HTMLCanvasElement;
  readonly #goods: string;
  /** What changes the page's colours, which a canvas does not follow by itself. */
  readonly #media = [matchMedia('(prefers-color-scheme: dark)'), matchMedia('print')];
  readonly #recolour = (): void => this.#paint();
  readonly #chart: Chart<'bar'>;
  #data: SaleNow;

  /** `most` is the longest bar that can come, so that the axis stands still while the bars grow. */
  constructor(canvas: HTMLCanvasElement, goods: string, most: number, data: SaleNow) {
    this.#canvas = canvas;
    this.#goods = goods;
    this.#data = data;
    this.#chart = new Chart(canvas, {
      type: 'bar',
      data: { labels: LABELS, datasets: [] },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: 'y',
        layout: { padding: { top: 18, right: 8 } },
        scales: {
          x: { stacked: true, min: 0, max: most },
          y: { stacked: true, grid: { display: false } },
        },
      },
      plugins: [this.#lineAtStock()],
    });
    for (const query of this.#media) query.addEventListener('change', this.#recolour);
    this.#paint();
  }

  update(data: SaleNow): void {
    this.#data = data;
    this.#paint();
  }

  destroy(): void {
    for (const query of this.#media) query.removeEventListener('change', this.#recolour);
    this.#chart.destroy();
  }

  #paint(): void {
    const { stockBefore, stock, orders } = this.#data;
    const colours = readColours(this.#canvas);
    const covered = Math.min(orders, stockBefore);
    const bar = { barPercentage: 0.62, categoryPercentage: 0.9 };
    this.#chart.data.datasets = [
      { ...bar, label: 'covered by stock', data: [covered, 0], backgroundColor: colours.sold },
      { ...bar, label: 'oversold', data: [orders - covered, 0], backgroundColor: hatch(colours.bad, colours.card) },
      { ...bar, label: 'stock column', data: [0, Math.max(stock, 0)], backgroundColor: colours.stock },
    ];
    this.#colourAxes(colours);
    this.#canvas.setAttribute('aria-label', describeBars(this.#data, this.#goods));
    this.#chart.update('none');
  }

  #colourAxes(colours: Colours): void {
    const font = { family: getComputedStyle(this.#canvas).fontFamily, size: 12 };
    const { x, y } = this.#chart.options.scales ?? {};
    if (x)
      Object.assign(x, {
        ticks: { color: colours.soft, font },
        grid: { color: colours.rule },
        border: { color: colours.rule },
      });
    if (y) Object.assign(y, { ticks: { color: colours.ink, font }, border: { color: colours.rule } });
  }

  #lineAtStock(): Plugin<'bar'> {
    return {
      id: 'line-at-stock',
      afterDatasetsDraw: (chart) => {
        const { ctx, chartArea, scales } = chart;
        const x = scales['x']?.getPixelForValue(this.#data.stockBefore) ?? chartArea.left;
        const colours = readColours(this.#canvas);
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = colours.ink;
        ctx.beginPath();
        ctx.moveTo(x, chartArea.top - 4);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
        ctx.font = `12px ${getComputedStyle(this.#canvas).fontFamily}`;
        ctx.textAlign = 'center';
        ctx.fillText(`${this.#data.stockBefore} ${this.#goods}`, x, chartArea.top - 8);
        ctx.restore();
      },
    };
  }
}

function readColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    sold: read('sold'),
    bad: read('bad'),
    stock: read('stock'),
    ink: read('ink'),
    soft: read('soft'),
    rule: read('rule'),
    card: read('card'),
  };
}

/** Diagonal stripes: oversold is told apart without its colour, too. */
function hatch(colour: string, background: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = tile.height = HATCH;
  const context = tile.getContext('2d');
  if (context === null) return colour;
  context.fillStyle = colour;
  context.fillRect(0, 0, HATCH, HATCH);
  context.strokeStyle = background;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const shift of [-HATCH, 0, HATCH]) {
    context.moveTo(shift - 1, HATCH + 1);
    context.lineTo(shift + HATCH + 1, -1);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}
