// npm run check: format, lint, types, generated files.
import path from 'node:path';
import { ensureInstalled, must, ROOT } from './setup.mjs';

ensureInstalled();
const bin = (name) => path.join(ROOT, 'node_modules', name);
must(process.execPath, ['scripts/generate.mjs', '--check']);
must(process.execPath, [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);
// The snippets of test/sdk/types are programs for the official SDK: they compile against it and against ours.
for (const project of [
  '.',
  'test/sdk/types/tsconfig.official.json',
  'test/sdk/types/tsconfig.ours.json',
])
  must(process.execPath, [bin('typescript/bin/tsc'), '-p', project]);
