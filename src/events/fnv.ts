/**
 * FNV-1a with 64 bits, as two unsigned halves: BigInt is far slower, and `crypto.subtle` is asynchronous and absent without HTTPS.
 */
export class Fnv64 {
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  add(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (const byte of bytes) {
      low = (low ^ byte) >>> 0;
      // Times the prime, 2^40 + 0x1b3. The product with 0x1b3 has 41 bits: exact in a double.
      const product = low * 0x1b3;
      high = (Math.imul(high, 0x1b3) + Math.floor(product / 0x1_0000_0000) + (low << 8)) >>> 0;
      low = product >>> 0;
    }
    this.#high = high;
    this.#low = low;
  }

  /** 16 hexadecimal digits. */
  get digest(): string {
    return [this.#high, this.#low].map((half) => half.toString(16).padStart(8, '0')).join('');
  }
}
