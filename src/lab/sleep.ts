import { currentLab, type Lab } from './context.ts';
import { LabError } from './labError.ts';
import type { Customer } from './tracker.ts';

/**
 * Work outside the database, on the run's clock. The log says which customer
 * sleeps when that is certain (see `tracker.ts`), else nobody.
 *
 * @param milliseconds 0 or more; fractions count to the microsecond.
 */
export function sleep(milliseconds: number): Promise<void> {
  const lab = currentLab();
  return sleepAs(lab, lab.tracker.current(), milliseconds);
}

export function sleepAs(lab: Lab, customer: Customer, milliseconds: number): Promise<void> {
  if (!(milliseconds >= 0 && milliseconds < Infinity)) {
    throw new LabError('BAD_ARGUMENT', `sleep: expected milliseconds, 0 or more; found ${milliseconds}.`);
  }
  const duration = Math.round(milliseconds * 1000);
  lab.host.emit({ type: 'sleep', session: null, customer, duration });
  const work = lab.host.startTimer(duration, customer).due.then(() => {
    lab.host.emit({ type: 'sleep-ended', session: null, customer });
  });
  return lab.tracker.track(customer, { kind: 'sleep', session: null }, work);
}
