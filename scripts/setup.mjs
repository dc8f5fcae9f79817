// Makes a fresh clone ready: installs what the lock file names and builds what is out of date.
// Uses nothing but Node's own modules, because nothing else may be there yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './build-state.mjs';
import { takeLock } from './lock.mjs';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const STAMP = path.join(ROOT, 'node_modules', '.portcullis-install');

/** Runs a command and leaves with its exit code when it fails. */
export function must(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  if (result.error !== undefined) {
    process.stderr.write(`cannot run ${command}: ${result.error.message}\n`);
    process.exit(1);
  }
  if (result.status === null)
    process.stderr.write(`${[command, ...args].join(' ')} was ended by ${result.signal}\n`);
  if (result.status !== 0) process.exit(result.status ?? 1);
  return result;
}

export function ensureInstalled() {
  const lockFile = path.join(ROOT, 'package-lock.json');
  const lock = readFileSync(lockFile, 'utf8');
  const stamp = `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}`;
  const isInstalled = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp;
  if (isInstalled()) return;
  const release = takeLock(`${STAMP}.lock`, 'installing the dependencies');
  try {
    // Somebody else may have done it while we waited.
    if (!isInstalled()) install(lockFile, lock, stamp);
  } finally {
    release();
  }
}

function install(lockFile, lock, stamp) {
  process.stderr.write('installing dependencies …\n');
  // Not `npm ci`: it refuses a lock file in which a registry had no build of a tool for every platform.
  must('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    env: withoutTarget(process.env),
  });
  // What npm finds out about other platforms on the way is not a change of the project.
  if (readFileSync(lockFile, 'utf8') !== lock) writeFileSync(lockFile, lock);
  mkdirSync(path.dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stamp);
}

/** Within `npm install -g .` the variables of that npm would make this one install elsewhere. */
function withoutTarget(env) {
  const others = Object.entries(env).filter(
    ([name]) =>
      !/^npm_config_(?:global|local_prefix|global_prefix|prefix|location|dry_run)$/i.test(name),
  );
  return Object.fromEntries(others);
}

/** `types` asks for the declarations too, which take longer than all the rest. */
export function ensureBuilt({ types = false } = {}) {
  if (isBuilt(types ? ['program', 'types'] : ['program'])) return;
  const options = types ? [] : ['--no-types'];
  must(process.execPath, ['scripts/build.mjs', '--if-needed', ...options], {
    stdio: ['ignore', 2, 2],
  });
}
