import { ONE_PRODUCT, type LessonSpec } from '../spec.ts';

export const lesson: LessonSpec = {
  slug: '07-isolation',
  title: 'Isolation',
  cells: {
    race: {
      title: 'REPEATABLE READ, tried again after 40001',
      connections: 8,
      parameters: { customers: 8, attempts: 200 },
      schema: ['schema.sql'],
      tally: ONE_PRODUCT,
      shape: { oversold: 'never', sold: 100, deadlocks: 'none', balanced: true, retries: 100, codes: ['40001'] },
    },
    steps: {
      title: 'Two transactions, step by step',
      connections: 2,
      parameters: {},
      schema: ['schema.sql'],
      tally: 'SELECT stock, 100 - stock AS sold FROM product',
      shape: { oversold: 'never', sold: 2, deadlocks: 'none', balanced: true, retries: 'none', codes: ['40001'] },
    },
  },
};
