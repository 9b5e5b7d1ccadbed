import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransactionStatus } from '../events/events.ts';
import { statusAfter, statusAfterError, transactionAction } from './transactionStatus.ts';

const after = (before: TransactionStatus, text: string, ...commands: string[]): TransactionStatus =>
  statusAfter(
    before,
    text,
    commands.map((command) => ({ command, rowCount: null, rows: [], fields: [] })),
  );

test('tags tell the status; a savepoint and AND CHAIN stay inside', () => {
  assert.equal(after('I', 'start transaction', 'START'), 'T');
  assert.equal(after('T', 'SELECT 1', 'SELECT'), 'T');
  assert.equal(after('T', 'commit', 'COMMIT'), 'I');
  assert.equal(after('E', 'ROLLBACK TO SAVEPOINT a', 'ROLLBACK'), 'T');
  assert.equal(after('T', 'rollback work to a', 'ROLLBACK'), 'T');
  assert.equal(after('T', 'COMMIT AND CHAIN', 'COMMIT'), 'T');
  assert.equal(after('I', 'begin; select 1; commit', 'BEGIN', 'SELECT', 'COMMIT'), 'I');
});

test('an error fails a transaction, and nothing outside one', () => {
  assert.equal(statusAfterError('I', 'SELECT 1/0'), 'I');
  assert.equal(statusAfterError('T', 'SELECT 1/0'), 'E');
  assert.equal(statusAfterError('I', 'BEGIN; SELECT 1/0'), 'E');
});

test('what the log says', () => {
  assert.equal(transactionAction('I', 'T', 'BEGIN'), 'begin');
  assert.equal(transactionAction('T', 'T', 'SELECT'), null);
  assert.equal(transactionAction('T', 'I', 'COMMIT'), 'commit');
  assert.equal(transactionAction('E', 'I', 'ROLLBACK'), 'rollback');
  assert.equal(transactionAction('T', 'E', null), 'fail');
  assert.equal(transactionAction('E', 'T', 'ROLLBACK'), null);
});
