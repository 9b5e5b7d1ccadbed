import { ONE_PRODUCT, type CellSpec, type LessonSpec } from '../spec.ts';

const queue = {
  connections: 8,
  parameters: {},
  tally: ONE_PRODUCT,
} as const satisfies Partial<CellSpec>;

export const lesson: LessonSpec = {
  slug: '08-twice',
  title: 'Twice',
  cells: {
    lockOnly: {
      ...queue,
      title: 'A lock, and no key',
      schema: ['schema.sql', 'lockOnly.schema.sql'],
      shape: { oversold: 'never', sold: 125, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
    },
    onConflict: {
      ...queue,
      title: 'The business key first',
      schema: ['schema.sql', 'onConflict.schema.sql'],
      shape: { oversold: 'never', sold: 100, deadlocks: 'none', balanced: true, retries: 'none', codes: [] },
    },
  },
};
