import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError, EngineError } from '../engine/errors.ts';
import { packRunError } from './packRunError.ts';

test('an error of PostgreSQL keeps its SQLSTATE, detail and hint', () => {
  const error = new DatabaseError('deadlock detected', { code: '40P01', detail: 'Process 1 waits.', hint: 'See log.' });
  assert.deepEqual(structuredClone(packRunError(error, 'code')), {
    source: 'database',
    name: 'DatabaseError',
    message: 'deadlock detected',
    code: '40P01',
    detail: 'Process 1 waits.',
    hint: 'See log.',
  });
});

test('an error of the engine keeps its code, and the lack of JSPI is told apart', () => {
  const died = packRunError(new EngineError('CLUSTER_FAILED', 'It died.'), 'code');
  assert.deepEqual(died, { source: 'engine', name: 'EngineError', message: 'It died.', code: 'CLUSTER_FAILED' });
  assert.equal(packRunError(new EngineError('UNSUPPORTED_RUNTIME', 'No JSPI.'), 'code').source, 'unsupported');
});

test('any other error is its thrower’s, and need not be an Error', () => {
  assert.deepEqual(packRunError(new TypeError('no'), 'engine'), { source: 'engine', name: 'TypeError', message: 'no' });
  assert.deepEqual(packRunError('no', 'code'), { source: 'code', name: 'Error', message: 'no' });
});
