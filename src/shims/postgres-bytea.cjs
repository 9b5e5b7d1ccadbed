'use strict';

/**
 * Takes the place of the package `postgres-bytea` in the browser: it needs Buffer as soon as it is loaded, and
 * browsers have none. PostgreSQL writes `bytea` as `\x` and hexadecimal digits. CommonJS, since `pg-types` requires it.
 */
module.exports = function parseBytea(text) {
  const pairs = text.slice(2).match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
};
