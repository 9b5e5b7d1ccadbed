/** What a cell prints becomes part of its log. */
import type { LabHost } from '../lab/host.ts';

const LEVELS = ['log', 'info', 'warn', 'error'] as const;

type Printer = Record<(typeof LEVELS)[number], (...values: unknown[]) => void>;

/** From now on `console` writes into the run's log. */
export function captureConsole(console: Printer, host: LabHost): void {
  for (const level of LEVELS) {
    console[level] = (...values) => {
      host.emit({ type: 'console', level, text: values.map(show).join(' '), session: null, customer: null });
    };
  }
}

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return (
      JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ??
      String(value)
    );
  } catch {
    return String(value);
  }
}
