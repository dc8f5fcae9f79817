// npm run generate [-- --check]: writes everything that is derived from the schemas.
// With --check nothing is written; the exit code says whether the committed files are current.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, runTypeScript } from './run-ts.mjs';

const check = process.argv.includes('--check');
const { generate } = await runTypeScript('scripts/generate/index.ts');
const stale = [];
for (const [name, content] of Object.entries(await generate())) {
  const file = path.join(ROOT, name);
  let current;
  try {
    current = readFileSync(file, 'utf8');
  } catch {
    current = undefined;
  }
  if (current === content) continue;
  stale.push(name);
  if (check) continue;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
if (check && stale.length > 0) {
  console.error(`out of date: ${stale.join(', ')}\nrun: npm run generate`);
  process.exit(1);
}
console.log(stale.length === 0 ? 'generated files are current' : `wrote ${stale.join(', ')}`);
