// npm run check: format, lint, types, generated files.
import path from 'node:path';
import { ensureInstalled, must, ROOT } from './setup.mjs';

ensureInstalled();
const bin = (name) => path.join(ROOT, 'node_modules', name);
must(process.execPath, [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);
must(process.execPath, [bin('typescript/bin/tsc'), '-p', '.']);
must(process.execPath, ['scripts/generate.mjs', '--check']);
