import type { RaceSpec } from '../lesson.ts';

export const races = {
  naive: {
    cell: '01-the-sale/naive',
    attempts: 200,
    buyers: 40,
    sessions: 8,
    maxSessions: 40,
    stock: 100,
    goods: 'shirts',
    tally: 'SELECT (SELECT stock FROM product) AS stock, (SELECT count(*)::int FROM orders) AS orders',
  },
} as const satisfies Record<string, RaceSpec>;
