import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATABASE_ERROR_FIELDS, DatabaseError, EngineError } from './errors.ts';
import { packError, unpackError } from './packError.ts';

const crossThread = (thrown: unknown): Error => unpackError(structuredClone(packError(thrown)));

test('a database error keeps every field, its class and its stack', () => {
  const fields = Object.fromEntries(DATABASE_ERROR_FIELDS.map((name) => [name, `the ${name}`]));
  const error = new DatabaseError('deadlock detected', { ...fields, code: '40P01' });
  const copy = crossThread(error);
  assert.ok(copy instanceof DatabaseError);
  assert.deepEqual({ ...copy }, { ...error });
  assert.equal(copy.message, 'deadlock detected');
  assert.equal(copy.stack, error.stack);
  assert.ok(!Object.keys(copy).includes('stack'));
});

test('a field that Postgres did not send is absent, not undefined', () => {
  assert.ok(!('detail' in crossThread(new DatabaseError('no', { code: '57014' }))));
});

test('an engine error keeps its code and its cause', () => {
  const copy = crossThread(new EngineError('ASSETS_UNAVAILABLE', 'No store.', { cause: new TypeError('offline') }));
  assert.ok(copy instanceof EngineError);
  assert.equal(copy.code, 'ASSETS_UNAVAILABLE');
  assert.ok(copy.cause instanceof Error);
  assert.equal(copy.cause.name, 'TypeError');
  assert.equal(copy.cause.message, 'offline');
});

test('any other error keeps name, message and stack', () => {
  const error = new RangeError('Maximum call stack size exceeded');
  const copy = crossThread(error);
  assert.deepEqual([copy.name, copy.message, copy.stack], [error.name, error.message, error.stack]);
});

test('what is not an error becomes one', () => {
  assert.equal(crossThread('just text').message, 'just text');
  assert.equal(crossThread(undefined).message, 'undefined');
  assert.equal(crossThread(Object.create(null)).message, 'a value that cannot be shown was thrown');
});

test('a cause that is its own cause ends', () => {
  const error = new Error('ring');
  error.cause = error;
  assert.equal(crossThread(error).message, 'ring');
});
