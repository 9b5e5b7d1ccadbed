import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseUnsupported } from './refuse.ts';

const REFUSED = [
  'create database d',
  'DROP  DATABASE IF EXISTS d',
  '\n\t alter database d set x = 1',
  '-- why\ncreate /* which */ -- kind\n database d',
  '/* one *//* two */create tablespace t',
  'alter subscription s enable',
  'create publication p',
];
const PASSED = [
  '',
  'create table database (n int)',
  `select 'create database d'`,
  '-- create database d',
  '/* create database d */ select 1',
  'createdatabase d',
  'create databases d',
  'comment on database postgres is null',
  'grant connect on database postgres to public',
  '/* never closed create database d',
];

for (const sql of REFUSED) {
  test(`refused: ${JSON.stringify(sql)}`, () => {
    assert.throws(() => refuseUnsupported(sql), {
      name: 'DatabaseError',
      code: '0A000',
      hint: /./,
      message: /in this engine/,
    });
  });
}
for (const sql of PASSED) test(`passed: ${JSON.stringify(sql)}`, () => refuseUnsupported(sql));

test('a long text takes no time', () => {
  const start = performance.now();
  refuseUnsupported(`${'/* x */ -- y\n'.repeat(50_000)}select 1`);
  refuseUnsupported(`create ${' '.repeat(100_000)}table t ()`);
  assert.ok(performance.now() - start < 500);
});
