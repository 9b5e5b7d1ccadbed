import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from './errors.ts';
import { hasJspi, requireJspi } from './support.ts';

test('this Node can suspend WebAssembly', () => {
  assert.ok(hasJspi());
  requireJspi();
});

test('a runtime that cannot is told which can', (context) => {
  context.mock.property(WebAssembly as unknown as { Suspending: unknown }, 'Suspending', undefined);
  assert.ok(!hasJspi());
  assert.throws(requireJspi, (error: unknown) => {
    assert.ok(error instanceof EngineError && error.code === 'UNSUPPORTED_RUNTIME');
    assert.match(error.message, /Chrome or Edge 137\+, Firefox 153\+, Safari 27\+ or Node 24\+/);
    return true;
  });
});
