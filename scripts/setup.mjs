// Makes a fresh clone ready: installs what the lock file names, and builds when a source is newer than the build.
// Imports nothing but Node's own modules, because nothing else may be installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.build.json'];

/** Runs a command and exits with its code when it fails. */
export function must(command, args, options = {}) {
  const { error, status, signal } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    ...options,
  });
  const line = [command, ...args].join(' ');
  if (error !== undefined) process.stderr.write(`cannot run ${line}: ${error.message}\n`);
  if (signal !== null) process.stderr.write(`${line} was ended by ${signal}\n`);
  if (status !== 0) process.exit(status ?? 1);
}

export function ensureInstalled() {
  const lockFile = path.join(ROOT, 'package-lock.json');
  const stampFile = path.join(ROOT, 'node_modules/.portcullis-install');
  const lock = readFileSync(lockFile, 'utf8');
  const stamp = `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}`;
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  process.stderr.write('installing dependencies …\n');
  // Within `npm install -g .` the variables of that npm would make this one install elsewhere.
  const target = /^npm_config_(?:global|local_prefix|global_prefix|prefix|location|dry_run)$/i;
  const env = Object.entries(process.env).filter(([name]) => !target.test(name));
  // Not `npm ci`: it refuses a lock file in which a registry had no build of a tool for every platform.
  must('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    env: Object.fromEntries(env),
  });
  // What npm learns about other platforms is not a change of the project.
  writeFileSync(lockFile, lock);
  writeFileSync(stampFile, stamp);
}

/** `types` asks for the declarations, too. */
export function ensureBuilt({ types = false } = {}) {
  const newest = Math.max(...INPUTS.map((name) => newestChange(path.join(ROOT, name))));
  const results = [
    'dist/cli/main.js',
    'dist/lib/index.js',
    'dist/console/app.js',
    ...(types ? ['dist/types'] : []),
  ];
  const isCurrent = (name) =>
    (statSync(path.join(ROOT, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > newest;
  if (results.every(isCurrent)) return;
  process.stderr.write('building …\n');
  const options = types ? [] : ['--no-types'];
  must(process.execPath, ['scripts/build.mjs', ...options], { stdio: ['ignore', 2, 2] });
}

/** Directories count, because they change when a file in them is removed. */
function newestChange(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || file.endsWith('.test.ts')) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  const below = readdirSync(file).map((name) => newestChange(path.join(file, name)));
  return Math.max(stat.mtimeMs, ...below);
}

/** Bundles a TypeScript module of ours in memory, on any Node, and imports it. */
export async function runTypeScript(file) {
  const { build } = await import('esbuild');
  const name = `run-${process.pid}-${path.basename(file)}.mjs`;
  const outfile = path.join(ROOT, 'node_modules/.cache', name);
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
