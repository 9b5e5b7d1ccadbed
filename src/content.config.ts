import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
import { z } from 'astro/zod';

const lessons = defineCollection({
  loader: glob({ base: './src/content/lessons', pattern: '*.mdx' }),
  schema: z.strictObject({
    title: z.string(),
    /** The line under the title. */
    lead: z.string(),
    /** For search engines and link previews: what the lesson shows, in one sentence. */
    description: z.string().max(180),
  }),
});

export const collections = { lessons };
