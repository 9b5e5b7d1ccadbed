/** The linear memory of one backend. Views are made anew when it has grown. */
export class LinearMemory {
  readonly #memory: WebAssembly.Memory;
  #bytes: Uint8Array<ArrayBuffer>;
  #words: Int32Array<ArrayBuffer>;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer as ArrayBuffer);
    this.#words = new Int32Array(memory.buffer as ArrayBuffer);
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    return this.#bytes;
  }

  /** 32-bit words, indexed by address / 4. */
  get words(): Int32Array<ArrayBuffer> {
    if (this.#words.buffer !== this.#memory.buffer) this.#words = new Int32Array(this.#memory.buffer as ArrayBuffer);
    return this.#words;
  }

  getWord(address: number): number {
    return this.words[address >>> 2] ?? 0;
  }

  setWord(address: number, value: number): void {
    this.words[address >>> 2] = value;
  }

  setByte(address: number, value: number): void {
    this.bytes[address] = value;
  }

  /** The text at `address` up to its zero byte. */
  cString(address: number): string {
    const { bytes } = this;
    return new TextDecoder().decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }
}
