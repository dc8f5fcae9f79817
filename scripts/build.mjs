// Builds dist/: the command-line program as CommonJS chunks (the ES module loader costs 8 ms at every
// start on Node 20), the library as ES modules, and the type declarations. One build at a time; each is made
// in a folder of its own and put in the place of the old one when whole: a program that runs is not disturbed.
//   --no-types, --types   all but the declarations, or only these
//   --if-needed           nothing when the sources are as they were at the last build
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import {
  BUILD_LOCK,
  fingerprint,
  finish,
  freshFolder,
  isBuilt,
  putInPlace,
} from './build-state.mjs';
import { generate } from './generate.mjs';
import { takeLock } from './lock.mjs';
import { ROOT } from './run-ts.mjs';

const version = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version;
const shared = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20',
  loader: { '.md': 'text' },
  define: { __PORTCULLIS_VERSION__: JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
};
const parts = [
  ...(process.argv.includes('--types') ? [] : ['program']),
  ...(process.argv.includes('--no-types') ? [] : ['types']),
];
const release = takeLock(BUILD_LOCK, 'building');
try {
  const inputs = fingerprint();
  // Somebody else may have done it while we waited.
  const wanted = process.argv.includes('--if-needed')
    ? parts.filter((part) => !isBuilt([part], inputs))
    : parts;
  if (wanted.length > 0) await make(wanted, inputs);
} finally {
  release();
}

async function make(wanted, inputs) {
  if (process.argv.includes('--if-needed')) process.stderr.write('building …\n');
  await generate({ codeOnly: true });
  const fresh = freshFolder();
  try {
    for (const part of wanted) {
      if (part === 'program') await makeProgram(fresh);
      else makeTypes(fresh);
      putInPlace(part, fresh);
      finish(part, inputs);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * One CommonJS file, as a function that bin/portcullis calls: with V8's compiled code beside it, that starts in half
 * the time of the same program in ES chunks, or of Node's own compile cache. Its id stands in front.
 */
async function makeProgram(fresh) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: ['src/cli/main.ts'],
    format: 'cjs',
    minify: true,
    write: false,
    // Native or data-carrying packages stay outside.
    external: ['@vscode/ripgrep', 'unpdf'],
    supported: { 'dynamic-import': false },
  });
  // In ASCII it is read in half the time. Other letters are left in regular expressions, where an escape means the same.
  const text = outputFiles[0].text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const id = createHash('sha256').update(text).digest('hex');
  mkdirSync(path.join(fresh, 'cli'));
  writeFileSync(
    path.join(fresh, 'cli/main.js'),
    `/*${id}*/(function(require){const module={exports:{}};${text}return module.exports})`,
  );
  await build({
    ...shared,
    entryPoints: { index: 'src/index.ts', testing: 'src/testing/index.ts' },
    splitting: true,
    format: 'esm',
    outdir: path.join(fresh, 'lib'),
    packages: 'external',
  });
}

function makeTypes(fresh) {
  const options = ['-p', 'tsconfig.build.json', '--outDir', path.join(fresh, 'types')];
  execFileSync(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...options], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}
