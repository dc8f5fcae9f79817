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

const TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts'];
/**
 * They take the one permit issuer of a process, or count what is left in it. The console serves no
 * browser that a session has started, and a process that has opened one stays its session.
 */
const ALONE = [
  'test/console/**/*.test.ts',
  'src/tools/invoke.test.ts',
  'test/agents/core-lifecycle.test.ts',
  'test/model/http-connection.test.ts',
];

const common = {
  setupFiles: ['test/setup.ts'],
  // Only for what hangs: no test measures time, and a busy machine is many times slower.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 30_000, interval: 20 } },
  pool: 'forks' as const,
};

const project = (name: string, more: Record<string, unknown>) => ({
  plugins: [markdownAsText],
  test: { ...common, name, ...more },
});

export default defineConfig({
  test: {
    globalSetup: ['scripts/generate.mjs', 'test/temporary-files.ts'],
    // Removing the temporary files of all tests may take longer than the ten seconds that vitest allows.
    teardownTimeout: 60_000,
    // Three for each of the two cores that we count on: many tests wait for a child.
    maxWorkers: 6,
    projects: [
      // Importing the program costs more than most tests.
      project('shared', { include: TESTS, exclude: ALONE, isolate: false }),
      project('alone', { include: ALONE }),
    ],
  },
});
