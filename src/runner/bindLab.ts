/** How a cell, which is no part of the bundle, comes by the module `lab`, which is. */

/** Under this name the worker keeps what the lab's module needs. */
export const STAGE = 'oversold.stage';

export interface Stage {
  /** What `lab` exports. */
  readonly lab: object;
  /** Called when all that the cell imports is there. The cell begins as soon as it resolves. */
  readonly begin: () => Promise<void>;
}

/** The text of the module `lab`. */
export function labModule(names: readonly string[]): string {
  return [
    `const { lab, begin } = globalThis[Symbol.for('${STAGE}')];`,
    'await begin();',
    `export const { ${names.join(', ')} } = lab;`,
  ].join('\n');
}

/**
 * A cell whose imports of `lab` come from `url`. One is added in front, so that also a cell without waits for the
 * stage; its lines stay where they are.
 */
export function bindLab(code: string, url: string): string {
  const from = JSON.stringify(url);
  return `import ${from}; ${code.replaceAll(IMPORT, (_whole, start: string) => `${start}${from}`)}`;
}

const IMPORT = /^(\s*(?:import|export)\b[^;'"]*)(['"])lab\2/gm;
