// Builds dist/: the program as one file, the library as ES modules, and the type declarations. Each part is made
// elsewhere and put in place when it is complete.
//   --no-types      without the declarations
//   --if-needed     nothing where no source is newer than the build
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, must, ROOT } from './setup.mjs';

const types = !process.argv.includes('--no-types');
ensureInstalled();
if (process.argv.includes('--if-needed')) ensureBuilt({ types });
else await buildAll();

async function buildAll() {
  const [{ build }, { generate }] = [await import('esbuild'), await import('./generate.mjs')];
  await generate({ codeOnly: true });
  const dist = path.join(ROOT, 'dist');
  mkdirSync(dist, { recursive: true });
  const fresh = mkdtempSync(path.join(dist, '.new-'));
  try {
    await Promise.all([
      buildProgram(build, fresh),
      buildLibrary(build, fresh),
      buildPage(build, fresh),
    ]);
    const folders = ['cli', 'lib', 'console', ...(types ? ['types'] : [])];
    if (types) {
      const output = path.join(fresh, 'types');
      const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
      must(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', output]);
    }
    for (const name of folders) replace(path.join(fresh, name), path.join(dist, name));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Another build may put its own in place at the same time; the last one stays. */
function replace(from, to) {
  for (;;) {
    rmSync(to, { recursive: true, force: true });
    try {
      renameSync(from, to);
      return;
    } catch (thrown) {
      if (thrown.code !== 'ENOTEMPTY') throw thrown;
    }
  }
}

function options() {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return {
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    loader: { '.md': 'text' },
    define: { __PORTCULLIS_VERSION__: JSON.stringify(version) },
    legalComments: 'none',
    logLevel: 'warning',
  };
}

/** One CommonJS file, as a function that bin/portcullis calls; its id stands in front. See decision 0002. */
async function buildProgram(build, fresh) {
  const { outputFiles } = await build({
    ...options(),
    entryPoints: ['src/cli/main.ts'],
    format: 'cjs',
    minify: true,
    write: false,
    // Packages with a native program or with data stay outside.
    external: ['@vscode/ripgrep', 'unpdf', 'pg', '@dbos-inc/dbos-sdk'],
    supported: { 'dynamic-import': false },
  });
  // The loader reads it as Latin-1. Other letters are left in regular expressions, where an escape means the same.
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
}

async function buildLibrary(build, fresh) {
  await build({
    ...options(),
    entryPoints: { index: 'src/index.ts', testing: 'src/testing/index.ts' },
    splitting: true,
    format: 'esm',
    outdir: path.join(fresh, 'lib'),
    packages: 'external',
  });
}

/** The page of the console: everything that a browser loads from it. */
async function buildPage(build, fresh) {
  const page = path.join(ROOT, 'src/console/page');
  const outdir = path.join(fresh, 'console');
  await build({
    absWorkingDir: ROOT,
    entryPoints: { app: path.join(page, 'app.ts') },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir,
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) {
    cpSync(path.join(page, name), path.join(outdir, name));
  }
}
