import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerLog } from './serverLog.ts';

test('complaints come without what the log puts before them', () => {
  const log = new ServerLog();
  for (const line of [
    '2026-01-01 00:00:00.000 UTC [1000] LOG:  starting',
    '2026-01-01 00:00:00.000 UTC [1000] FATAL:  could not start',
    '2026-01-01 00:00:00.000 UTC [1000] HINT:  Try again.',
  ])
    log.add(line);
  assert.equal(log.complaints, 'FATAL:  could not start HINT:  Try again.');
  assert.equal(log.panic, undefined);
});

test('the last panic, and the last lines only', () => {
  const log = new ServerLog();
  log.add('x ERROR:  forgotten');
  for (let line = 0; line < 30; line++) log.add(`line ${line}`);
  log.add('x PANIC:  disk full');
  assert.equal(log.panic, 'PANIC:  disk full');
  assert.equal(log.complaints, 'PANIC:  disk full');
});
