/** JavaScript Promise Integration and exception tags, typed (the DOM library does not have them yet). */

// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- the API takes any function
type AnyFunction = Function;

interface StackSwitching {
  readonly Suspending: new (fn: (...args: number[]) => number | Promise<number>) => WebAssembly.ImportValue;
  readonly promising: (fn: AnyFunction) => (...args: number[]) => Promise<number>;
  readonly Tag: new (type: { parameters: string[] }) => WebAssembly.Tag;
  readonly Exception: new (tag: WebAssembly.Tag, values: unknown[]) => Error;
}

/** `requireJspi()` has to come first. */
export const jspi = WebAssembly as unknown as StackSwitching;
