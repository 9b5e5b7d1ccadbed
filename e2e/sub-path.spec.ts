/** The site built for a path below a host's root, as on a project's pages at a code host. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './page.ts';
import { NAIVE_VERDICT, RacePage } from './racePage.ts';

const BASE = '/course/';

let folder: string;
let server: ChildProcess;
let address: string;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oversold-'));
  const astro = join('node_modules', 'astro', 'bin', 'astro.mjs');
  execFileSync(process.execPath, [astro, 'build', '--base', BASE, '--outDir', folder], { stdio: 'pipe' });
  server = spawn(process.execPath, ['scripts/serve.mjs', '--dir', folder, '--base', BASE, '--port', '4500']);
  if (server.stdout === null) throw new Error('The server has no output to read its address from.');
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  address = /http:\S+/.exec(line.toString())?.[0] ?? '';
});

test.afterAll(async () => {
  server.kill();
  await rm(folder, { recursive: true });
});

test('below a sub-path the pages link to each other and the race runs', async ({ page }) => {
  await page.goto(address);
  expect(new URL(page.url()).pathname).toBe(BASE);
  await page.getByRole('main').getByRole('link', { name: 'The sale' }).click();
  const race = new RacePage(page);
  expect((await race.runToEnd()).orders).toBe(200);
  await expect(race.verdict).toHaveText(NAIVE_VERDICT);
});
