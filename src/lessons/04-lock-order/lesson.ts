import { ALL_PRODUCTS, type CellSpec, type LessonSpec } from '../spec.ts';

const carts = {
  connections: 8,
  parameters: { customers: 8 },
  schema: ['schema.sql'],
  tally: ALL_PRODUCTS,
} as const satisfies Partial<CellSpec>;

export const lesson: LessonSpec = {
  slug: '04-lock-order',
  title: 'Lock order',
  cells: {
    unsorted: {
      ...carts,
      title: 'Locks in the order of the cart',
      shape: { oversold: 'never', sold: 360, deadlocks: 100, balanced: true, retries: 100, codes: ['40P01'] },
    },
    sorted: {
      ...carts,
      title: 'Locks in the order of the ids',
      shape: { oversold: 'never', sold: 360, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
    },
  },
};
