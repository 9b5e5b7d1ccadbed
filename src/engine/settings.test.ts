import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SESSIONS, startParams } from './settings.ts';

/** The values given with `-c`, by name. */
function settingsOf(params: readonly string[]): Map<string, string> {
  const pairs = params.filter((_, index) => params[index - 1] === '-c');
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

test('single-user mode, without the permission to change catalogs', () => {
  const params = startParams(1, {});
  assert.equal(params[0], '--single');
  assert.ok(!params.includes('-O'));
});

test('there is a connection for each session, the observer and replacements', () => {
  for (const sessions of [1, MAX_SESSIONS]) {
    assert.equal(Number(settingsOf(startParams(sessions, {})).get('max_connections')), sessions + 3);
  }
});

test('settings of the caller come last, as they are', () => {
  const params = startParams(2, { deadlock_timeout: '200ms', 'my.setting': 'a=b c' });
  assert.deepEqual(params.slice(-4), ['-c', 'deadlock_timeout=200ms', '-c', 'my.setting=a=b c']);
});

test('what cannot be is refused', () => {
  const refusals: [Parameters<typeof startParams>, RegExp][] = [
    [[0, {}], /from 1 to 40; got 0/],
    [[41, {}], /got 41/],
    [[1.5, {}], /got 1.5/],
    [[1, { 'a b': '1' }], /'a b' is no name of a Postgres setting/],
    [[1, { '-c': '1' }], /no name/],
    [[1, { work_mem: 'a\0b' }], /must be text/],
    [[1, { IO_method: 'worker' }], /depends on IO_method = sync/],
  ];
  for (const [args, message] of refusals) assert.throws(() => startParams(...args), { code: 'BAD_ARGUMENT', message });
});
