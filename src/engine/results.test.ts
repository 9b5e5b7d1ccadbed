/** Answers of the wire protocol, as node-postgres gathers them. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { AnswerReader } from './results.ts';
import type { Notice, Notification } from './types.ts';

const PgResult = createRequire(import.meta.url)('pg/lib/result.js') as new () => {
  addCommandComplete(message: { text: string }): void;
  command: string | null;
  rowCount: number | null;
};

const int32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
const int16 = (value: number): number[] => [(value >>> 8) & 255, value & 255];
const text = (value: string): number[] => [...Buffer.from(value), 0];
const message = (type: string, ...body: number[]): number[] => [type.charCodeAt(0), ...int32(body.length + 4), ...body];

const TYPE = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, json: 114, int4s: 1007, timestamptz: 1184 } as const;

const columns = (...types: (keyof typeof TYPE)[]): number[] =>
  message(
    'T',
    ...int16(types.length),
    ...types.flatMap((type, index) => [
      ...text(`${type}${index}`),
      ...int32(0),
      ...int16(0),
      ...int32(TYPE[type]),
      ...int16(-1),
      ...int32(-1),
      ...int16(0),
    ]),
  );
const row = (...values: (string | null)[]): number[] =>
  message(
    'D',
    ...int16(values.length),
    ...values.flatMap((value) =>
      value === null ? int32(-1) : [...int32(Buffer.byteLength(value)), ...Buffer.from(value)],
    ),
  );
const complete = (tag: string): number[] => message('C', ...text(tag));
const fields = (of: Record<string, string>): number[] => [
  ...Object.entries(of).flatMap(([key, value]) => [key.charCodeAt(0), ...text(value)]),
  0,
];
const failure = (of: Record<string, string>): number[] => message('E', ...fields(of));
const ready = (status: 'I' | 'T' | 'E'): number[] => message('Z', status.charCodeAt(0));

interface Heard {
  readonly notices: Notice[];
  readonly notifications: Notification[];
  copies: number;
}

/** Reads messages, `size` bytes at a time. */
function readerOf(bytes: readonly number[], size = Infinity): { reader: AnswerReader; heard: Heard } {
  const heard: Heard = { notices: [], notifications: [], copies: 0 };
  const reader = new AnswerReader({
    onNotice: (notice) => heard.notices.push(notice),
    onNotification: (notification) => heard.notifications.push(notification),
    onCopyIn: () => (heard.copies += 1),
  });
  for (let at = 0; at < bytes.length; at += size) reader.read(Uint8Array.from(bytes.slice(at, at + size)));
  return { reader, heard };
}

const finish = (...messages: number[][]) => readerOf(messages.flat()).reader.finish();

test('command tags are read as node-postgres reads them', () => {
  for (const tag of [
    'SELECT 5',
    'INSERT 0 3',
    'UPDATE 0',
    'DELETE 12',
    'MERGE 2',
    'CREATE TABLE',
    'BEGIN',
    'COPY 7',
    'FETCH 1',
    'MOVE 9',
    'LOCK TABLE',
    'DISCARD ALL',
  ]) {
    const reference = new PgResult();
    reference.addCommandComplete({ text: tag });
    const [result] = finish(complete(tag), ready('I'));
    assert.deepEqual([result?.command, result?.rowCount], [reference.command, reference.rowCount], tag);
  }
});

test('values are parsed by their types', () => {
  const [result] = finish(
    columns('int4', 'int8', 'bool', 'text', 'json', 'int4s', 'timestamptz', 'bytea', 'text'),
    row('7', '9007199254740993', 't', 'é', '{"a":1}', '{1,NULL,2}', '2024-02-29 12:00:00.5+00', '\\x00ff', null),
    complete('SELECT 1'),
  );
  assert.deepEqual(Object.values(result?.rows[0] ?? {}), [
    7,
    '9007199254740993',
    true,
    'é',
    { a: 1 },
    [1, null, 2],
    new Date('2024-02-29T12:00:00.500Z'),
    Uint8Array.of(0, 255),
    null,
  ]);
  assert.deepEqual(result?.fields.map(({ name, dataTypeID }) => [name, dataTypeID]).slice(0, 2), [
    ['int40', 23],
    ['int81', 20],
  ]);
});

test('bytea in its escape format', () => {
  const [result] = finish(columns('bytea'), row('a\\\\b\\001\\377'), complete('SELECT 1'));
  assert.deepEqual(result?.rows, [{ bytea0: Uint8Array.of(97, 92, 98, 1, 255) }]);
});

test('several statements: one result each, in pieces of any size', () => {
  const bytes = [
    columns('int4'),
    row('1'),
    row('2'),
    complete('SELECT 2'),
    complete('INSERT 0 3'),
    message('I'),
    ready('T'),
  ].flat();
  for (const size of [1, 2, 3, 7, 1000]) {
    const { reader } = readerOf(bytes, size);
    const results = reader.finish().map(({ command, rowCount, rows }) => ({ command, rowCount, rows }));
    assert.deepEqual(results, [
      { command: 'SELECT', rowCount: 2, rows: [{ int40: 1 }, { int40: 2 }] },
      { command: 'INSERT', rowCount: 3, rows: [] },
      { command: '', rowCount: null, rows: [] },
    ]);
    assert.equal(reader.status, 'T');
  }
});

test('an error midway is thrown once, with its fields; the next message starts afresh', () => {
  const { reader } = readerOf(
    [
      complete('BEGIN'),
      columns('int4'),
      row('1'),
      failure({ S: 'ERROR', C: '40P01', M: 'deadlock detected', D: 'Process 1 waits', H: 'See log', P: '8', n: 'key' }),
      ready('E'),
    ].flat(),
  );
  assert.throws(() => reader.finish(), {
    name: 'DatabaseError',
    message: 'deadlock detected',
    code: '40P01',
    detail: 'Process 1 waits',
    hint: 'See log',
    position: '8',
    constraint: 'key',
    severity: 'ERROR',
  });
  assert.equal(reader.status, 'E');
  reader.read(Uint8Array.from([...complete('ROLLBACK'), ...ready('I')]));
  assert.deepEqual(reader.finish(), [{ command: 'ROLLBACK', rowCount: null, rows: [], fields: [] }]);
});

test('of two errors the first counts', () => {
  assert.throws(() => finish(failure({ C: '22012', M: 'first' }), failure({ C: '57P01', M: 'second' })), {
    code: '22012',
  });
});

test('a value that its parser refuses is the error of the statement', () => {
  const { reader } = readerOf([...columns('json'), ...row('{'), ...complete('SELECT 1'), ...ready('I')]);
  assert.throws(() => reader.finish(), { name: 'SyntaxError' });
  assert.deepEqual(reader.finish(), []);
});

test('notices, notifications and COPY are passed on as they come', () => {
  const { heard } = readerOf([
    ...message('N', ...fields({ S: 'NOTICE', C: '00000', M: 'hello', D: 'more' })),
    ...message('A', ...int32(42), ...text('channel'), ...text('payload')),
    ...message('G', 0, ...int16(0)),
  ]);
  assert.deepEqual(heard, {
    notices: [{ severity: 'NOTICE', code: '00000', message: 'hello', detail: 'more' }],
    notifications: [{ channel: 'channel', payload: 'payload', processId: 42 }],
    copies: 1,
  });
});
