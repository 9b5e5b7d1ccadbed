/**
 * The same race in the installed Firefox, driven by Puppeteer over WebDriver BiDi: Playwright drives its own
 * patched Firefox, and of the others only newer ones than the ESR that the course supports.
 */
import { expect, test } from '@playwright/test';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { findBrowser } from '../scripts/findBrowser.ts';
import { NAIVE_VERDICT } from './racePage.ts';

const executablePath = findBrowser('firefox');
test.skip(executablePath === undefined && !process.env['CI'], 'No Firefox on PATH or in OVERSOLD_FIREFOX.');

let browser: Browser;

test.beforeAll(async () => {
  if (executablePath === undefined) throw new Error('CI has to bring a Firefox, on PATH or in OVERSOLD_FIREFOX.');
  browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
});

test.afterAll(async () => {
  // Undefined when the launch failed, which is the error to report.
  await (browser as Browser | undefined)?.close();
});

test('the naive sale runs in Firefox, twice, without a complaint in the console', async ({ baseURL }) => {
  const page = await browser.newPage();
  const complaints = collectComplaints(page);
  await page.goto(new URL('lessons/01-the-sale/', baseURL).href);
  expect(await run(page, 'Run')).toMatch(NAIVE_VERDICT);
  expect(await run(page, 'Run again')).toMatch(/, the same as recorded$/);
  expect(await page.$eval('canvas', (canvas) => canvas.getAttribute('aria-label'))).toMatch(/^Bar chart: 200 orders/);
  expect(complaints).toEqual([]);
  await page.close();
});

test('every cell has in Firefox the log that it had in Node', async ({ baseURL }) => {
  test.setTimeout(240_000);
  const page = await browser.newPage();
  const complaints = collectComplaints(page);
  await page.goto(new URL('reproduce/', baseURL).href);
  expect(await run(page, 'Run all', 200_000)).toMatch(/^All \d+ logs are the same as recorded\.$/);
  expect(complaints).toEqual([]);
  await page.close();
});

/** Presses the button with that name and resolves to the verdict. */
async function run(page: Page, name: string, timeout = 45_000): Promise<string> {
  await page.locator(`::-p-aria(${name}[role="button"])`).click();
  await page.waitForFunction(
    () => document.querySelector('[role="status"]')?.textContent && !document.querySelector('[data-running]'),
    { timeout },
  );
  return page.$eval('[role="status"]', (verdict) => verdict.textContent);
}

function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${String(error)}`));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  return complaints;
}
