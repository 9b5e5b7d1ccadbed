/** The fixture for every browser test: a page that fails its test when the console says anything amiss. */
import { expect, test as base, type Page } from '@playwright/test';

interface Fixtures {
  /** What the console and the page complained about so far. A test that expects a complaint empties it. */
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  complaints: async ({}, use) => {
    await use([]);
  },
  page: async ({ page, complaints }, use) => {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    await use(page);
    expect(complaints).toEqual([]);
  },
});

export { expect };

/** The page's own scroll width must not exceed its window, or it scrolls sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
}
