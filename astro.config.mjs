import mdx from '@astrojs/mdx';
import { defineConfig } from 'astro/config';
import { fileURLToPath } from 'node:url';
import { pglite } from './src/engine/vite.mjs';
import { cells } from './src/runner/vite.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** Astro marks its own modules with a directive that the bundler warns about; a warning on every build hides others. */
function hushAstroDirective() {
  return {
    name: 'oversold:hush-astro-directive',
    onLog: (_level, log) =>
      log.code === 'MODULE_LEVEL_DIRECTIVE' && log.message.includes('astro:') ? false : undefined,
  };
}

export default defineConfig({
  output: 'static',
  // Also `npm run build -- --base /course/`.
  base: process.env.OVERSOLD_BASE ?? '/',
  trailingSlash: 'always',
  integrations: [mdx()],
  // Colours come from the page's own tokens, so code follows light, dark and print as everything else does.
  markdown: { shikiConfig: { theme: 'css-variables' } },
  devToolbar: { enabled: false },
  vite: {
    resolve: { alias: { lab: path('./src/lab/index.ts'), 'postgres-bytea': path('./src/shims/postgres-bytea.cjs') } },
    plugins: [pglite(), cells(), hushAstroDirective()],
    worker: { format: 'es' },
    // Nothing becomes a data: address, so that a strict content policy can hold.
    build: { assetsInlineLimit: 0, target: 'es2022' },
  },
});
