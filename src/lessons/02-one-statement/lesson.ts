import { ONE_PRODUCT, type LessonSpec } from '../spec.ts';

export const lesson: LessonSpec = {
  slug: '02-one-statement',
  title: 'One statement',
  cells: {
    atomic: {
      title: 'The check and the decrement in one UPDATE',
      connections: 8,
      parameters: { customers: 40, attempts: 200 },
      schema: ['schema.sql'],
      tally: ONE_PRODUCT,
      shape: { oversold: 'never', sold: 100, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
    },
  },
};
