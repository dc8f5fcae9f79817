// Runs a TypeScript program of ours on any Node: bundles it in memory with the bundler we already have.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export async function runTypeScript(file) {
  const outfile = path.join(
    ROOT,
    'node_modules',
    '.cache',
    `run-${process.pid}-${path.basename(file)}.mjs`,
  );
  await build({
    entryPoints: [path.join(ROOT, file)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    loader: { '.md': 'text' },
    logLevel: 'warning',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}
