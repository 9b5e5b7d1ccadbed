import type { RunParameters } from '../events/events.ts';
import { currentLab } from './context.ts';
import { LabError } from './labError.ts';

/** The run's parameters: what the page's controls or the command line set. Reading one that is not set gives undefined. */
export const parameters: RunParameters = new Proxy<RunParameters>(
  {},
  {
    get: (_target, name) => Reflect.get(currentLab().host.parameters, name) as unknown,
    has: (_target, name) => Reflect.has(currentLab().host.parameters, name),
    ownKeys: () => Reflect.ownKeys(currentLab().host.parameters),
    getOwnPropertyDescriptor: (_target, name) => {
      const found = Reflect.getOwnPropertyDescriptor(currentLab().host.parameters, name);
      return found && { ...found, configurable: true };
    },
  },
);

/**
 * One parameter, or `preset` when the run does not set it.
 *
 * @throws LabError BAD_ARGUMENT when it is set to another type than `preset` has.
 */
export function parameter(name: string, preset: number): number;
export function parameter(name: string, preset: string): string;
export function parameter(name: string, preset: boolean): boolean;
export function parameter(name: string, preset: number | string | boolean): number | string | boolean {
  const value = currentLab().host.parameters[name];
  if (value === undefined) return preset;
  if (typeof value !== typeof preset) {
    throw new LabError(
      'BAD_ARGUMENT',
      `parameter ${name}: expected a ${typeof preset}; found ${JSON.stringify(value)}.`,
    );
  }
  return value;
}
