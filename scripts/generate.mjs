// npm run generate [-- --check | --code]: writes everything that is derived from the schemas.
//   build/generated            code that `src` imports; always written, never committed
//   schema, docs/reference     committed; --check compares these, --code leaves them alone
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, runTypeScript } from './setup.mjs';

/** Writes what is not current and returns its names. The code comes first: the pages are made by running it. */
export async function generate({ check = false, codeOnly = false } = {}) {
  const stale = [];
  const write = (files) => {
    for (const [name, content] of Object.entries(files)) {
      const isCode = name.startsWith('build/');
      if ((codeOnly && !isCode) || read(name) === content) continue;
      if (!isCode) stale.push(name);
      if (!check || isCode) replace(path.join(ROOT, name), content);
    }
  };
  write((await runTypeScript('scripts/generate/code.ts')).generate());
  if (!codeOnly) write(await (await runTypeScript('scripts/generate/reference.ts')).generate());
  return stale;
}

/** Before a run of vitest. */
export async function setup() {
  await generate({ codeOnly: true });
}

function read(name) {
  try {
    return readFileSync(path.join(ROOT, name), 'utf8');
  } catch {
    return undefined;
  }
}

/** Another process may read or write it at the same time. */
function replace(file, content) {
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes('--check');
  const stale = await generate({ check, codeOnly: process.argv.includes('--code') });
  if (check && stale.length > 0) {
    console.error(`out of date: ${stale.join(', ')}\nrun: npm run generate`);
    process.exitCode = 1;
  } else
    console.log(stale.length === 0 ? 'generated files are current' : `wrote ${stale.join(', ')}`);
}
