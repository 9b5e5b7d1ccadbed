import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError } from './describeError.ts';
import { describeLoading } from './describeLoading.ts';

test('an error of PostgreSQL comes with what else it said', () => {
  assert.deepEqual(
    describeError({ source: 'database', name: 'DatabaseError', message: 'relation "x" does not exist', code: '42P01' }),
    { summary: 'PostgreSQL refused: relation "x" does not exist', more: 'SQLSTATE 42P01' },
  );
  const { more } = describeError({
    source: 'database',
    name: 'DatabaseError',
    message: 'm',
    code: '23505',
    detail: 'Key (id)=(1) already exists.',
    hint: 'Use another.',
  });
  assert.equal(more, 'SQLSTATE 23505 · Detail: Key (id)=(1) already exists. · Hint: Use another.');
});

test('an error of the code names its kind', () => {
  const { summary } = describeError({ source: 'code', name: 'TypeError', message: 'x is not a function' });
  assert.equal(summary, 'The cell’s code failed: TypeError: x is not a function');
});

test('the lack of JSPI names the browsers that have it', () => {
  const { summary } = describeError({ source: 'unsupported', name: 'EngineError', message: 'whatever' });
  assert.match(summary, /Chrome or Edge 137.*Firefox 153.*Safari 27/);
});

test('loading is told in megabytes, with a total where there is one', () => {
  assert.deepEqual(describeLoading(null, false), { text: 'Loading the race', fraction: null });
  assert.deepEqual(describeLoading({ loaded: 2_640_000, total: 10_560_000 }, true), {
    text: 'Loading PostgreSQL: 2.6 of 10.6 MB',
    fraction: 0.25,
  });
  assert.deepEqual(describeLoading({ loaded: 2_640_000, total: null }, true), {
    text: 'Loading PostgreSQL: 2.6 MB',
    fraction: null,
  });
  assert.deepEqual(describeLoading({ loaded: 5, total: 5 }, true).fraction, null);
});
