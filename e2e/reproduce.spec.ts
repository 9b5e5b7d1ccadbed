import { expect, expectNoSidewaysScroll, test } from './page.ts';

test('every cell has in Chromium the log that it had in Node', async ({ page }) => {
  test.setTimeout(180_000);
  await page.goto('reproduce/');
  const rows = page.locator('tbody tr');
  const count = await rows.count();
  expect(count).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Run all' }).click();
  const verdict = page.getByRole('status');
  await expect(verdict).not.toBeEmpty({ timeout: 150_000 });
  expect(await rows.filter({ hasNotText: '✓ same' }).allTextContents()).toEqual([]);
  await expect(verdict).toHaveText(`All ${count} logs are the same as recorded.`);
  expect(page.workers().length, 'only the last cluster is left').toBe(1);
});

test('the round can be stopped', async ({ page }) => {
  await page.goto('reproduce/');
  await page.getByRole('button', { name: 'Run all' }).click();
  await expect(page.getByText('✓ same').first()).toBeVisible({ timeout: 45_000 });
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByRole('status')).toContainText('Stopped.');
  await expect(page.getByRole('button', { name: 'Run all again' })).toBeEnabled();
});

test('at 390 px the table scrolls, the page does not', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('reproduce/');
  await expectNoSidewaysScroll(page);
});
