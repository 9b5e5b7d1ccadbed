/**
 * Spares every backend two thousand objects at its start.
 *
 * Emscripten's glue enumerates the main module's exports to register each one
 * for side modules: a table slot for every function and a WebAssembly.Global for
 * every symbol, 50 ms and megabytes for each session. Side modules find what
 * they need without it, through the import object (`resolveGlobalSymbol`), if
 * the exports stand behind that as its prototype.
 */
export function quietExports(exports: WebAssembly.Exports, env: object): WebAssembly.Exports {
  Object.setPrototypeOf(env, exports);
  // The name under which the glue looks for the entry point (mergeLibSymbols).
  Object.assign(env, { main: exports['__main_argc_argv'] });
  return new Proxy<WebAssembly.Exports>(
    {},
    {
      get: (_target, name) => Reflect.get(exports, name) as unknown,
      has: (_target, name) => Reflect.has(exports, name),
      ownKeys: () => [],
    },
  );
}
