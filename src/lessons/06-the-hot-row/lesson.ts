import { ONE_PRODUCT, type CellSpec, type LessonSpec } from '../spec.ts';

const hotRow = {
  connections: 8,
  parameters: { customers: 8, attempts: 200 },
  schema: ['schema.sql'],
  tally: ONE_PRODUCT,
} as const satisfies Partial<CellSpec>;

export const lesson: LessonSpec = {
  slug: '06-the-hot-row',
  title: 'The hot row',
  cells: {
    pessimistic: {
      ...hotRow,
      title: 'SELECT ... FOR UPDATE',
      shape: { oversold: 'never', sold: 100, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
    },
    optimistic: {
      ...hotRow,
      title: 'A version column and another try',
      shape: { oversold: 'never', sold: 100, deadlocks: 'none', balanced: true, retries: 300, codes: [] },
    },
  },
};
