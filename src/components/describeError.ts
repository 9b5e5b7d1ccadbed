import type { RunError } from '../runner/protocol.ts';

export const NEEDS_JSPI =
  'This browser cannot pause WebAssembly (JSPI), so the race cannot run in it: use Chrome or Edge 137 or newer, Firefox 153 or newer, or Safari 27 or newer.';

export interface ErrorText {
  readonly summary: string;
  readonly more: string | null;
}

/** What to tell the reader: whose error it is, what it says, and what else is known. */
export function describeError({ source, name, message, code, detail, hint }: RunError): ErrorText {
  if (source === 'unsupported') return { summary: NEEDS_JSPI, more: null };
  if (source === 'code') return { summary: `The cell’s code failed: ${name}: ${message}`, more: null };
  if (source === 'engine')
    return { summary: `PostgreSQL could not be run in this page: ${message}`, more: code ?? null };
  const more = [code && `SQLSTATE ${code}`, detail && `Detail: ${detail}`, hint && `Hint: ${hint}`].filter(Boolean);
  return { summary: `PostgreSQL refused: ${message}`, more: more.join(' · ') || null };
}
