import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const CANDIDATES = {
  chromium: {
    variable: 'OVERSOLD_CHROMIUM',
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  },
  firefox: { variable: 'OVERSOLD_FIREFOX', names: ['firefox', 'firefox-esr'] },
};

/** The path of an installed browser, or undefined: the one that the environment names, else the first on PATH. */
export function findBrowser(browser: keyof typeof CANDIDATES): string | undefined {
  const { variable, names } = CANDIDATES[browser];
  const named = process.env[variable];
  if (named) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
