import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress, toSetting, writeAddress } from './settings.ts';

const presets = { seed: 1, sessions: 8 };

test('what is typed becomes a whole number in range, or the preset', () => {
  assert.equal(toSetting('sessions', '12', 8), 12);
  assert.equal(toSetting('sessions', '99', 8), 40);
  assert.equal(toSetting('sessions', '-3', 8), 1);
  assert.equal(toSetting('sessions', '2.6', 8), 3);
  assert.equal(toSetting('sessions', '', 8), 8);
  assert.equal(toSetting('seed', 'many', 1), 1);
  assert.equal(toSetting('seed', '0', 1), 0);
});

test('an address gives back the settings that it was made from', () => {
  const settings = { seed: 7, sessions: 40 };
  const address = writeAddress('?other.seed=3', 'naive', settings, presets);
  assert.equal(address, '?other.seed=3&naive.seed=7&naive.sessions=40');
  assert.deepEqual(readAddress(address, 'naive', presets), settings);
  assert.equal(writeAddress(address, 'naive', presets, presets), '?other.seed=3');
  assert.equal(writeAddress('?naive.seed=7', 'naive', presets, presets), '');
});

test('an address with nonsense in it gives settings that can be run', () => {
  assert.deepEqual(readAddress('?naive.seed=x&naive.sessions=1000', 'naive', presets), { seed: 1, sessions: 40 });
});
