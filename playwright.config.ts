import { defineConfig } from '@playwright/test';
import { findBrowser } from './scripts/findBrowser.ts';

const chromium = findBrowser('chromium');

/** The path that the site was built for, a slash at both ends. */
const base = `/${process.env['OVERSOLD_BASE'] ?? ''}/`.replace(/\/{2,}/g, '/');

const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export default defineConfig({
  testDir: 'e2e',
  // The engine's boot keeps two cores busy; a second worker would measure the first.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env['CI']),
  reporter: process.env['CI'] ? [['list'], ['html', { open: 'never' }]] : 'list',
  use: {
    // The server prints its port, which may be the next free one; see `webServer.wait`.
    baseURL: `http://127.0.0.1:${process.env['OVERSOLD_TEST_PORT'] ?? ''}${base}`,
    trace: 'retain-on-failure',
    browserName: 'chromium',
    launchOptions: { args: CHROMIUM_FLAGS, ...(chromium !== undefined && { executablePath: chromium }) },
  },
  webServer: {
    command: 'node scripts/serve.mjs --port 4400',
    wait: { stdout: /:(?<oversold_test_port>\d+)\// },
  },
});
