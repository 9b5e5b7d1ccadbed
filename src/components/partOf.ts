/** The element with that `data-part` below `root`. @throws Error when the markup has none of that type. */
export function partOf<T extends HTMLElement>(root: HTMLElement, name: string, type: new () => T): T {
  const part = root.querySelector(`[data-part="${name}"]`);
  if (part instanceof type) return part;
  throw new Error(`The markup of <${root.localName}> has no ${type.name} with data-part="${name}".`);
}

export function element(tag: 'p' | 'span' | 'small', text: string, className?: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}
