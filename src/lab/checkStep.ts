import type { Row } from '../engine/types.ts';
import { LabError } from './labError.ts';
import type { Expected, StepResult } from './script.ts';

export function describeStep({ step, session, sql }: StepResult): string {
  return `Step ${step}, ${session} (${sql.trim().replace(/\s+/g, ' ')})`;
}

/** @throws LabError UNEXPECTED_STEP when a step that has ended did not do what was expected. */
export function checkStep(done: StepResult, { code, rowCount, rows }: Expected): void {
  if (done.error) return checkCode(done, code);
  if (code !== undefined) fail(done, `error ${code}`, `success: ${summary(done)}`);
  if (rowCount !== undefined && done.result?.rowCount !== rowCount) fail(done, `rowCount ${rowCount}`, summary(done));
  if (rows !== undefined && !matches(done.result?.rows ?? [], rows)) {
    fail(done, `rows ${JSON.stringify(rows)}`, JSON.stringify(done.result?.rows ?? []));
  }
}

function checkCode(done: StepResult, code: string | undefined): void {
  if (done.error?.code === code) return;
  const found = `error ${done.error?.code}: ${done.error?.message}`;
  throw unexpected(done, code === undefined ? 'success' : `error ${code}`, found, done.error);
}

function matches(found: readonly Row[], expected: readonly Row[]): boolean {
  if (found.length !== expected.length) return false;
  return expected.every((row, index) =>
    Object.entries(row).every(([name, value]) => JSON.stringify(found[index]?.[name]) === JSON.stringify(value)),
  );
}

function summary({ result }: StepResult): string {
  return `${result?.command ?? 'nothing'}, rowCount ${result?.rowCount ?? 'null'}`;
}

function fail(done: StepResult, expected: string, found: string): never {
  throw unexpected(done, expected, found);
}

function unexpected(done: StepResult, expected: string, found: string, cause?: unknown): LabError {
  return new LabError('UNEXPECTED_STEP', `${describeStep(done)}: expected ${expected}; found ${found}.`, { cause });
}
