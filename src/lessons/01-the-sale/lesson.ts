import { ONE_PRODUCT, type LessonSpec } from '../spec.ts';

export const lesson: LessonSpec = {
  slug: '01-the-sale',
  title: 'The sale',
  cells: {
    naive: {
      title: 'Read, check, write',
      connections: 8,
      parameters: { customers: 40, attempts: 200 },
      schema: ['schema.sql'],
      tally: ONE_PRODUCT,
      shape: { oversold: 'always', deadlocks: 'none', balanced: false, retries: 'none', codes: [] },
    },
  },
};
