import { expect, type Locator, type Page } from '@playwright/test';

export const NAIVE_VERDICT = /^Sold 200 shirts, stock shows \d+, oversold by 100\. Nobody got an error\./;

/** A lesson page's race, by what its reader sees. */
export class RacePage {
  readonly #page: Page;
  readonly run: Locator;
  readonly stop: Locator;
  readonly verdict: Locator;
  readonly next: Locator;
  readonly seed: Locator;
  readonly sessions: Locator;
  /** The recorded run's verdict, before the first run. */
  readonly recorded: Locator;
  readonly chart: Locator;
  readonly ledger: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.run = page.getByRole('button', { name: /^Run/ });
    this.stop = page.getByRole('button', { name: /^Stop/ });
    this.verdict = page.getByRole('status');
    this.next = page.getByRole('button', { name: 'Next seed' });
    this.recorded = page.locator('.recorded');
    this.seed = page.getByRole('spinbutton', { name: 'seed' });
    this.sessions = page.getByRole('spinbutton', { name: 'sessions' });
    this.chart = page.getByRole('img', { name: /^Bar chart/ });
    this.ledger = page.getByRole('table', { name: 'Ledger' });
  }

  async open(search = ''): Promise<void> {
    await this.#page.goto(`lessons/01-the-sale/${search}`);
    await expect(this.#page.getByRole('heading', { level: 1 })).toHaveText('The sale');
  }

  /** Runs to the end and reads the ledger: stock and orders afterwards. */
  async runToEnd(): Promise<{ stock: number; orders: number }> {
    await this.run.click();
    return this.readEnd();
  }

  /** Waits for the end of the run under way and reads the ledger. */
  async readEnd(): Promise<{ stock: number; orders: number }> {
    await expect(this.verdict).not.toBeEmpty({ timeout: 45_000 });
    await expect(this.verdict, 'any other ending is a failure').toContainText('stock shows', { timeout: 1 });
    const cell = async (row: string): Promise<number> =>
      Number(await this.ledger.getByRole('row', { name: row }).getByRole('cell').nth(1).textContent());
    return { stock: await cell('stock'), orders: await cell('orders') };
  }
}
