import { expect, expectNoSidewaysScroll, test } from './page.ts';

test('the front page leads to the lessons that exist, and to no others', async ({ page }) => {
  await page.goto('./');
  const links = page.getByRole('main').getByRole('listitem').getByRole('link');
  for (const link of await links.all()) {
    const address = await link.getAttribute('href');
    expect((await page.request.get(address ?? '')).status(), `${address}`).toBe(200);
  }
  await links.first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('The sale');
});

test('the skip link is the first stop of the Tab key and leads to the text', async ({ page }) => {
  await page.goto('./');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
});

test('the list of lessons folds on a phone and is always open on a desk', async ({ page }) => {
  await page.goto('./');
  const lesson = page.getByRole('navigation').getByText('The sale');
  await expect(lesson).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(lesson).toBeHidden();
  await expectNoSidewaysScroll(page);
  await page.getByText('Lessons', { exact: true }).first().click();
  await expect(lesson).toBeVisible();
});

test('an address without a page says so', async ({ page, complaints }) => {
  const response = await page.goto('lessons/99-nothing/');
  expect(response?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Not found');
  complaints.length = 0;
});
