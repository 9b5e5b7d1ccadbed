/**
 * `count` of the items at even distances, in order, with the first and the last
 * among them; all of them when there are no more than that.
 */
export function pickEvenly<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  if (count <= 0) return [];
  const step = count === 1 ? 0 : (items.length - 1) / (count - 1);
  const offset = count === 1 ? items.length - 1 : 0;
  return Array.from({ length: count }, (_, i) => items[Math.round(offset + i * step)] as Item);
}
