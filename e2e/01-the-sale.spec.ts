import type { Page } from '@playwright/test';
import { expect, expectNoSidewaysScroll, test } from './page.ts';
import { NAIVE_VERDICT, RacePage } from './racePage.ts';

test('nothing of PostgreSQL or the chart is fetched before Run', async ({ page }) => {
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  const race = new RacePage(page);
  await race.open();
  await expect(race.run).toBeEnabled();
  await page.waitForLoadState('networkidle');
  expect(fetched.filter((path) => /\.(?:wasm|gz|data)$|worker|chart/i.test(path))).toEqual([]);
});

test('the naive sale sells two hundred of a hundred shirts, and says so', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  const { stock, orders } = await race.runToEnd();
  expect(orders).toBe(200);
  expect(stock).toBeGreaterThan(0);
  expect(stock).toBeLessThan(100);
  await expect(race.verdict).toHaveText(NAIVE_VERDICT);
  await expect(race.verdict).toContainText(`stock shows ${stock},`);
  await expect(race.verdict).toContainText(
    /virtual clock · seed 1 · 0\.\d{3} virtual s · 8 sessions · PostgreSQL 18\S* in this page · ran in \d+\.\d s/,
  );
  await expect(race.ledger).toContainText(`${100 + stock} of the orders left no trace in the stock`);
  await expect(race.chart).toHaveAccessibleName(
    `Bar chart: 200 orders, of which 100 oversold; the stock column shows ${stock}; there were 100 shirts.`,
  );
  expect(await countColours(race)).toBeGreaterThan(3);
  expect(page.workers().length, 'only the cluster outlives a run').toBe(1);
});

test('before the first run the recorded one stands there, and a run with its seed has its log', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  await expect(race.recorded).toContainText('Recorded run');
  await expect(race.recorded).toContainText(
    /Sold 200 shirts, stock shows \d+, oversold by 100\. Nobody got an error\./,
  );
  await expect(race.recorded).toContainText(/seed 1 · .* · PostgreSQL 18\S* \(PGlite 0\.\S+\) in Node/);
  const [log] = /log [0-9a-f]{8}/.exec((await race.recorded.textContent()) ?? '') ?? ['none'];
  await race.runToEnd();
  await expect(race.recorded).toBeHidden();
  await expect(race.verdict).toContainText(`${log}, the same as recorded`);
});

test('the next seed gives another run, which its address repeats', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  await race.next.click();
  await race.readEnd();
  await expect(race.seed).toHaveValue('2');
  const { log, search } = await readLog(race, page);
  expect(search).toBe('?naive.seed=2');
  await race.open(search);
  await expect(race.seed).toHaveValue('2');
  await race.runToEnd();
  expect(await readLog(race, page)).toEqual({ log, search });
});

test('settings stand in the address, in range', async ({ page }) => {
  const race = new RacePage(page);
  await race.open('?naive.seed=7&naive.sessions=99');
  await expect(race.seed).toHaveValue('7');
  await expect(race.sessions).toHaveValue('40');
  await race.sessions.fill('3');
  await race.sessions.blur();
  await expect(page).toHaveURL(/\?naive\.seed=7&naive\.sessions=3$/);
});

test('without scripts the recorded run can be read', async ({ browser, baseURL }) => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(new URL('lessons/01-the-sale/', baseURL).href);
  await expect(page.getByText(/Sold 200 shirts/)).toBeVisible();
  await expect(page.getByRole('table', { name: 'Ledger' })).toContainText('+200');
  await expect(page.getByRole('img', { name: /^Bar chart: 200 orders/ })).toBeVisible();
  await expect(page.locator('oversold-race noscript p')).toBeVisible();
  await page.close();
});

test('with one session nothing is oversold', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  await race.sessions.fill('1');
  expect(await race.runToEnd()).toEqual({ stock: 0, orders: 100 });
  await expect(race.verdict).toContainText('nothing oversold');
  await expect(race.verdict).toContainText('1 session ·');
  await expect(race.ledger).toContainText('✓ balances');
});

test('a run can be stopped in the middle and run again', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  await race.runToEnd();
  await race.run.click();
  await expect(race.stop).toBeVisible();
  await expect.poll(() => page.workers().length, { intervals: [5] }).toBe(2);
  await race.stop.click();
  await expect(race.verdict).toContainText('Stopped.');
  await expect.poll(() => page.workers().length).toBe(1);
  expect((await race.runToEnd()).orders).toBe(200);
  await expect(race.verdict).toHaveText(NAIVE_VERDICT);
});

test('a run can be stopped while PostgreSQL loads, and run again', async ({ page }) => {
  const race = new RacePage(page);
  await race.open();
  await race.run.click();
  await race.stop.click();
  await expect(race.verdict).toContainText('Stopped.');
  await expect.poll(() => page.workers().length).toBe(0);
  expect((await race.runToEnd()).orders).toBe(200);
});

test('a cell that never ends is ended by Stop', async ({ page }) => {
  await replaceCell(page, 'for (;;);');
  const race = new RacePage(page);
  await race.open();
  await race.run.click();
  await expect.poll(() => page.workers().length).toBe(2);
  await page.waitForTimeout(500);
  await race.stop.click();
  await expect(race.verdict).toContainText('Stopped.');
  await page.unrouteAll();
  await race.open();
  expect((await race.runToEnd()).orders).toBe(200);
});

const failures = [
  { cell: "throw new TypeError('no');", text: 'The cell’s code failed: TypeError: no' },
  { cell: "setTimeout(() => { throw new Error('late'); }, 5);\nawait new Promise(() => {});", text: 'Error: late' },
  { cell: "void Promise.reject(new Error('stray'));\nawait new Promise(() => {});", text: 'Error: stray' },
  { cell: "import { nothing } from 'lab';", text: 'nothing' },
  { cell: 'const x = ;', text: 'The cell’s code failed: SyntaxError' },
  {
    cell: "import { Pool } from 'lab';\nawait new Pool().query('SELECT * FROM nowhere');",
    text: 'PostgreSQL refused: relation "nowhere" does not exist',
  },
];

for (const { cell, text } of failures) {
  test(`a cell that fails says so: ${cell.replace(/\s+/g, ' ')}`, async ({ page }) => {
    await replaceCell(page, cell);
    const race = new RacePage(page);
    await race.open();
    await race.run.click();
    await expect(race.verdict).toContainText(text);
    expect(page.workers().length).toBe(1);
  });
}

test('without JSPI one sentence says which browsers can', async ({ page }) => {
  await page.addInitScript(() => Reflect.deleteProperty(WebAssembly, 'Suspending'));
  const race = new RacePage(page);
  await race.open();
  await expect(page.locator('[data-part="lacking"]')).toHaveText(
    /^This browser cannot pause WebAssembly \(JSPI\).*Chrome or Edge 137.*Firefox 153.*Safari 27.*\.$/,
  );
  await expect(race.run).toBeDisabled();
});

test('a file that cannot be fetched ends in a message, and a second try works', async ({ page, complaints }) => {
  await page.route('**/*.gz', (route) => route.abort());
  const race = new RacePage(page);
  await race.open();
  await race.run.click();
  await expect(race.verdict).toContainText('PostgreSQL could not be run in this page:');
  await page.unroute('**/*.gz');
  expect(complaints.length, 'the browser itself reports the failed request').toBeGreaterThan(0);
  complaints.length = 0;
  expect((await race.runToEnd()).orders).toBe(200);
});

for (const width of [390, 1280]) {
  test(`at ${width} px the page does not scroll sideways, before or after a run`, async ({ page }) => {
    await page.setViewportSize({ width, height: 844 });
    const race = new RacePage(page);
    await race.open();
    await expectNoSidewaysScroll(page);
    await race.runToEnd();
    await expectNoSidewaysScroll(page);
  });
}

/** Serves another text in the place of the lesson's cell. */
async function replaceCell(page: Page, text: string): Promise<void> {
  const body = `export default ${JSON.stringify(text)};`;
  await page.route(/\/naive-[^/]*\.js$/, (route) => route.fulfill({ contentType: 'text/javascript', body }));
}

async function readLog({ verdict }: RacePage, page: Page): Promise<{ log: string | undefined; search: string }> {
  const [log] = /log [0-9a-f]{8}/.exec((await verdict.textContent()) ?? '') ?? [];
  return { log, search: new URL(page.url()).search };
}

/** How many different colours the chart's canvas shows: an empty one shows one. */
async function countColours({ chart }: RacePage): Promise<number> {
  return chart.evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(pixels && new Uint32Array(pixels.buffer)).size;
  });
}
