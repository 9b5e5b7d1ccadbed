import { ALL_PRODUCTS, type CellSpec, type LessonSpec } from '../spec.ts';

const gateway = {
  connections: 4,
  parameters: { customers: 8, gatewayMs: 100 },
  schema: ['schema.sql'],
  tally: ALL_PRODUCTS,
  shape: { oversold: 'never', sold: 40, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
} as const satisfies Partial<CellSpec>;

export const lesson: LessonSpec = {
  slug: '05-the-gateway',
  title: 'The gateway',
  cells: {
    pessimistic: { ...gateway, title: 'A row lock across the payment' },
    optimistic: { ...gateway, title: 'No lock, and no connection, across the payment' },
  },
};
