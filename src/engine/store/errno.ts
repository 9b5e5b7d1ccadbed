/**
 * Errors of the store, as Emscripten numbers them (WASI order, not Linux').
 * PGlite's adapter passes `code` on to C as `errno`; its own exported
 * `ERRNO_CODES` leaves out ENOSPC and EFBIG. A test compares the rest.
 */
export const ERRNO = {
  EBADF: 8,
  EEXIST: 20,
  EFBIG: 22,
  EINVAL: 28,
  EISDIR: 31,
  ENOENT: 44,
  ENOSPC: 51,
  ENOTDIR: 54,
  ENOTEMPTY: 55,
} as const;

export type ErrnoName = keyof typeof ERRNO;

/** A failed file operation. `code` is the number that C sees in `errno`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: number;
  readonly errno: ErrnoName;

  constructor(errno: ErrnoName, subject: string) {
    super(`${errno}: ${subject}`);
    this.errno = errno;
    this.code = ERRNO[errno];
  }
}
