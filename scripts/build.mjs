// Builds dist/: the command-line program as CommonJS chunks (the ES module loader costs 8 ms at every
// start on Node 20), the library as ES modules, and the type declarations. One build at a time; each is made
// in a folder of its own and put in the place of the old one when whole: a program that runs is not disturbed.
//   --no-types, --types   all but the declarations, or only these
//   --if-needed           nothing when the sources are as they were at the last build
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
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
import { writeCodeCache } from './code-cache.mjs';
import { generate } from './generate.mjs';
import { takeLock } from './lock.mjs';
import { functionsOnCall, ON_CALL_ENTRY } from './on-call.mjs';
import { writeProgram } from './pack.mjs';
import { ROOT } from './run-ts.mjs';

const version = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version;
const shared = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  loader: { '.md': 'text' },
  define: { __PORTCULLIS_VERSION__: JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
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
      // It carries the names of its files, so it is made where they stay.
      if (part === 'program') await writeCodeCache();
      finish(part, inputs);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function makeProgram(fresh) {
  const cli = await build({
    ...shared,
    entryPoints: { main: 'src/cli/main.ts', 'on-call': ON_CALL_ENTRY },
    plugins: [functionsOnCall()],
    outdir: 'dist/cli',
    minify: true,
    keepNames: false,
    write: false,
    // Native or data-carrying packages stay outside; everything else is in the chunks.
    external: ['@vscode/ripgrep', 'unpdf'],
  });
  await writeProgram(path.join(fresh, 'cli'), cli);
  await build({
    ...shared,
    entryPoints: { index: 'src/index.ts', testing: 'src/testing/index.ts' },
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
