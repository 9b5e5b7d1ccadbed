import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../engine/errors.ts';
import { setHost } from './context.ts';
import { FakeHost, type FakeAnswer, type FakeCall } from './fakeHost.ts';
import { script, type Step } from './index.ts';

/** `UPDATE` takes the one lock until `COMMIT`; who waited for it then fails with 40001. */
function oneLock(): FakeHost {
  let owner: number | null = null;
  const answer = ({ session, text }: FakeCall): FakeAnswer => {
    if (text === 'SELECT') return [{ stock: 100, id: 0 }];
    if (text === 'COMMIT') owner = null;
    if (text !== 'UPDATE') return [];
    if (owner === null) owner = session;
    const failed = new DatabaseError('could not serialize access', { code: '40001' });
    return owner === session
      ? { rowCount: 1 }
      : { blockedBy: [owner], blocked: () => owner !== null, answer: () => failed };
  };
  const host = new FakeHost({ answer, sessions: 3 });
  setHost(host);
  return host;
}

const steps: Step[] = [
  ['T1', 'BEGIN'],
  ['T2', 'BEGIN'],
  ['T1', 'SELECT', { rows: [{ stock: 100 }] }],
  ['T2', 'SELECT', [1], { rows: [{ stock: 100 }] }],
  ['T1', 'UPDATE', { rowCount: 1, waits: false }],
  ['T2', 'UPDATE', { waits: true, code: '40001' }],
  ['T1', 'COMMIT'],
  ['T2', 'ROLLBACK'],
];

test('plays the schedule, waits included, and closes its sessions', async () => {
  const host = oneLock();
  const results = await script(steps);
  assert.deepEqual(results.map(({ step, waited }) => (waited ? step : 0)).filter(Boolean), [6]);
  assert.equal(results[5]?.error?.code, '40001');
  assert.deepEqual(
    host.events('query-sent').map(({ customer, sql }) => `T${Number(customer) + 1} ${sql}`),
    ['T1 BEGIN', 'T2 BEGIN', 'T1 SELECT', 'T2 SELECT', 'T1 UPDATE', 'T2 UPDATE', 'T1 COMMIT', 'T2 ROLLBACK'],
  );
  assert.deepEqual(host.renewed, [0, 1]);
});

const wrong: readonly [string, Step[], RegExp][] = [
  [
    'a wait that does not come',
    [['T1', 'UPDATE', { waits: true }]],
    /^Step 1, T1 \(UPDATE\): expected waits: true; found that it ended/,
  ],
  [
    'a wait that must not be',
    [
      ['T1', 'UPDATE'],
      ['T2', 'UPDATE', { waits: false, code: '40001' }],
      ['T1', 'COMMIT'],
    ],
    /^Step 2, T2.*expected waits: false; found that it waits/,
  ],
  [
    'rows',
    [['T1', 'SELECT', { rows: [{ stock: 99 }] }]],
    /expected rows \[{"stock":99}\]; found \[{"stock":100,"id":0}\]/,
  ],
  ['rowCount', [['T1', 'UPDATE', { rowCount: 2 }]], /expected rowCount 2; found UPDATE, rowCount 1/],
  ['an error that does not come', [['T1', 'UPDATE', { code: '40001' }]], /expected error 40001; found success/],
  [
    'an error that nobody expects, of a step that waited',
    [
      ['T1', 'UPDATE'],
      ['T2', 'UPDATE', { waits: true }],
      ['T1', 'COMMIT'],
    ],
    /^Step 2, T2.*expected success; found error 40001: could not serialize/,
  ],
];

for (const [name, schedule, message] of wrong) {
  test(`says what was unexpected: ${name}`, async () => {
    oneLock();
    await assert.rejects(script(schedule), { code: 'UNEXPECTED_STEP', message });
  });
}

test('what the last step let go on has ended before the next is sent', async () => {
  const host = oneLock();
  const schedule: Step[] = [
    ['T1', 'UPDATE'],
    ['T2', 'UPDATE', { waits: true }],
    ['T1', 'COMMIT'],
    ['T3', 'SELECT'],
  ];
  await assert.rejects(script(schedule), { code: 'UNEXPECTED_STEP', message: /^Step 2, T2/ });
  assert.ok(!host.events('query-sent').some(({ sql }) => sql === 'SELECT'));
});

test('a session that waits for ever is named', async () => {
  oneLock();
  const stuck = script([
    ['T1', 'UPDATE'],
    ['T2', 'UPDATE', { waits: true }],
  ]);
  await assert.rejects(stuck, {
    code: 'STUCK',
    message: /customer 1 waits for a row lock held by session 0 \(customer 0\)/,
  });
});
