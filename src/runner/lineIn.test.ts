import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineIn } from './lineIn.ts';

const URL = 'blob:http://127.0.0.1:4400/4f1c';

test('the first frame in the file counts, in either browser’s words', () => {
  const v8 = `Error\n    at Client.query (http://127.0.0.1/lab.js:1:9)\n    at buy (${URL}:6:33)\n    at ${URL}:3:1`;
  const firefox = `query@http://127.0.0.1/lab.js:1:9\nbuy@${URL}:6:33\n@${URL}:3:1\n`;
  assert.equal(lineIn(v8, URL), 6);
  assert.equal(lineIn(firefox, URL), 6);
});

test('code that only awaits what is on the stack does not count', () => {
  assert.equal(
    lineIn(`Error\n    at attempt (http://127.0.0.1/lab.js:1:9)\n    at async body (${URL}:3:1)`, URL),
    null,
  );
  assert.equal(lineIn(`attempt@http://127.0.0.1/lab.js:1:9\nasync*body@${URL}:3:1\n`, URL), null);
  assert.equal(lineIn('Error\n    at elsewhere (http://127.0.0.1/lab.js:1:9)', URL), null);
});
