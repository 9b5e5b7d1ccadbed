/** `/dev/urandom`, from which pg_strong_random() reads: `gen_random_uuid()`, cancel keys, the seed of `random()`. */

/** Emscripten's file system, as far as it is used here. */
export interface DeviceModule {
  readonly FS: {
    unlink(path: string): void;
    createDevice(parent: string, name: string, readByte: () => number): void;
  };
}

/** Emscripten's own devices read ahead, so that what one run leaves over goes to the next. */
export function replaceRandomDevices({ FS }: DeviceModule, random: (into: Uint8Array) => void): void {
  const byte = new Uint8Array(1);
  const read = (): number => {
    random(byte);
    return byte[0] ?? 0;
  };
  for (const name of ['random', 'urandom']) {
    FS.unlink(`/dev/${name}`);
    FS.createDevice('/dev', name, read);
  }
}
