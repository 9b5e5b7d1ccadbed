/** Has Playwright fetch its own Chromium, unless one is installed. Firefox is used where it is installed. */
import { chromium } from '@playwright/test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { findBrowser } from './findBrowser.ts';

if (findBrowser('chromium') === undefined && !existsSync(chromium.executablePath())) {
  console.log('No Chromium found on PATH or in OVERSOLD_CHROMIUM: fetching the one that Playwright brings.');
  const cli = createRequire(import.meta.url).resolve('@playwright/test/cli');
  const { status } = spawnSync(process.execPath, [cli, 'install', 'chromium'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
