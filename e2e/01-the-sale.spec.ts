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
  await expect(race.verdict).toContainText(`stock shows ${stock}:`);
  await expect(race.verdict).toContainText(
    /real clock · 8 sessions · PostgreSQL 18\S* in this page · ran in \d+\.\d\d s/,
  );
  await expect(race.ledger).toContainText(`${100 + stock} of the orders left no trace in the stock`);
  await expect(race.chart).toHaveAccessibleName(
    `Bar chart: 200 orders, of which 100 oversold; the stock column shows ${stock}; there were 100 shirts.`,
  );
  expect(await countColours(race)).toBeGreaterThan(3);
  expect(page.workers().length, 'only the cluster outlives a run').toBe(1);
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

test('without JSPI one sentence says which browsers can', async ({ page }) => {
  await page.addInitScript(() => Reflect.deleteProperty(WebAssembly, 'Suspending'));
  const race = new RacePage(page);
  await race.open();
  await expect(race.verdict).toHaveText(
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

/** How many different colours the chart's canvas shows: an empty one shows one. */
async function countColours({ chart }: RacePage): Promise<number> {
  return chart.evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(pixels && new Uint32Array(pixels.buffer)).size;
  });
}
