// Builds dist/: the command-line program as CommonJS chunks (the ES module loader costs 8 ms at every
// start on Node 20), the library as ES modules, and the type declarations.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { writeCodeCache } from './code-cache.mjs';
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
const typesOnly = process.argv.includes('--types');
const skipTypes = process.argv.includes('--no-types');

if (!typesOnly) {
  rmSync(path.join(ROOT, 'dist/lib'), { recursive: true, force: true });
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
  await writeProgram(cli);
  await build({
    ...shared,
    entryPoints: { index: 'src/index.ts', testing: 'src/testing/index.ts' },
    outdir: 'dist/lib',
    packages: 'external',
  });
  await writeCodeCache();
}
if (!skipTypes) {
  rmSync(path.join(ROOT, 'dist/types'), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    { cwd: ROOT, stdio: 'inherit' },
  );
}
