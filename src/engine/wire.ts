/** Client messages of the Postgres protocol, version 3. */
import { protocol } from '@electric-sql/pglite';
import { prepareValue, type WireValue } from './values.ts';
import { concat } from './wasm/binary.ts';

const { serialize } = protocol;

/** The simple protocol: any number of statements in one message. */
export function simpleQuery(sql: string): Uint8Array {
  return serialize.query(sql);
}

/** The extended protocol, pipelined: Parse, Bind, Describe, Execute and Sync in one go. */
export function extendedQuery(text: string, values: readonly unknown[]): Uint8Array {
  return concat([
    serialize.parse({ text }),
    serialize.bind({ values: values.map(prepareValue), valueMapper: (value: unknown) => value as WireValue }),
    serialize.describe({ type: 'P' }),
    serialize.execute({}),
    serialize.sync(),
  ]);
}

/** Nothing to do: makes an idle backend pass through its main loop, where it acts on signals. */
export function syncMessage(): Uint8Array {
  return serialize.sync();
}

/** The answer to CopyInResponse: nothing here feeds COPY FROM STDIN. */
export function refuseCopy(): Uint8Array {
  return serialize.copyFail('COPY FROM STDIN has no client here to read from; use INSERT');
}
