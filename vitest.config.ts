import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Prompt texts live in .md files beside their tool; the bundler and the tests load them as strings. */
const markdownAsText = {
  name: 'markdown-as-text',
  load(id: string) {
    if (id.endsWith('.md')) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))};`;
    return undefined;
  },
};

export default defineConfig({
  plugins: [markdownAsText],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['scripts/generate.mjs', 'test/temporary-files.ts'],
    setupFiles: ['test/setup.ts'],
    // Only for what hangs: no test measures time, and a busy machine is many times slower.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
