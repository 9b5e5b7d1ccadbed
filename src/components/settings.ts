/** The settings of a run and how they stand in a page's address, as `?naive.seed=2&naive.sessions=40`. Pure. */

export const RANGES = {
  seed: { least: 0, most: 2 ** 31 - 1 },
  sessions: { least: 1, most: 40 },
} as const;

export type SettingName = keyof typeof RANGES;
export type Settings = Readonly<Record<SettingName, number>>;

const NAMES = Object.keys(RANGES) as SettingName[];

/** A whole number in range; `preset` for what is no number. */
export function toSetting(name: SettingName, text: string, preset: number): number {
  const wanted = text.trim() === '' ? NaN : Number(text);
  const { least, most } = RANGES[name];
  return Number.isFinite(wanted) ? Math.min(Math.max(Math.round(wanted), least), most) : preset;
}

/** @param cell tells the cells of one page apart */
export function readAddress(search: string, cell: string, presets: Settings): Settings {
  const params = new URLSearchParams(search);
  const read = (name: SettingName): number => toSetting(name, params.get(`${cell}.${name}`) ?? '', presets[name]);
  return { seed: read('seed'), sessions: read('sessions') };
}

/** The same address with these settings in it, or without those that are preset. */
export function writeAddress(search: string, cell: string, settings: Settings, presets: Settings): string {
  const params = new URLSearchParams(search);
  for (const name of NAMES) {
    if (settings[name] === presets[name]) params.delete(`${cell}.${name}`);
    else params.set(`${cell}.${name}`, String(settings[name]));
  }
  return params.size === 0 ? '' : `?${params}`;
}
