/** Seed and sessions of a race: its two fields, and the page's address. */
import { partOf } from './partOf.ts';
import { readAddress, toSetting, writeAddress, type SettingName, type Settings } from './settings.ts';

export class RaceControls {
  readonly #root: HTMLElement;
  readonly #cell: string;
  readonly #presets: Settings;

  /** @param cell the name by which the address tells a page's cells apart */
  constructor(root: HTMLElement, cell: string, presets: Settings) {
    this.#root = root;
    this.#cell = cell;
    this.#presets = presets;
    this.#show(readAddress(location.search, cell, presets));
    for (const name of ['seed', 'sessions'] as const) {
      this.#field(name).addEventListener('change', () => this.settings);
    }
  }

  /** What the fields say, brought into range; fields and address then say the same. */
  get settings(): Settings {
    const read = (name: SettingName): number => toSetting(name, this.#field(name).value, this.#presets[name]);
    const settings = { seed: read('seed'), sessions: read('sessions') };
    this.#show(settings);
    this.#write(settings);
    return settings;
  }

  set settings(settings: Settings) {
    this.#show(settings);
    this.#write(settings);
  }

  set disabled(disabled: boolean) {
    this.#field('seed').disabled = disabled;
    this.#field('sessions').disabled = disabled;
    partOf(this.#root, 'next', HTMLButtonElement).disabled = disabled;
  }

  #show({ seed, sessions }: Settings): void {
    this.#field('seed').value = String(seed);
    this.#field('sessions').value = String(sessions);
  }

  #write(settings: Settings): void {
    const search = writeAddress(location.search, this.#cell, settings, this.#presets);
    if (search !== location.search) history.replaceState(null, '', `${location.pathname}${search}${location.hash}`);
  }

  #field(name: SettingName): HTMLInputElement {
    return partOf(this.#root, name, HTMLInputElement);
  }
}
