// What of dist/ is whole and made of the sources as they are: each part has a stamp, which is taken away
// before the part is touched and written when nothing is left to do.
// Uses nothing but Node's own modules, because nothing else may be there yet.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const DIST = path.join(ROOT, 'dist');
export const BUILD_LOCK = path.join(DIST, '.lock');
/** The folders below dist/ that are built together. */
const FOLDERS = { program: ['cli', 'lib'], types: ['types'] };
const INPUTS = [
  'src',
  'scripts',
  'bin',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Whether these parts (`program`, `types`) are whole and made of these inputs. */
export function isBuilt(parts, inputs = fingerprint()) {
  return parts.every(
    (part) =>
      FOLDERS[part].every((folder) => existsSync(path.join(DIST, folder))) &&
      existsSync(stampOf(part)) &&
      readFileSync(stampOf(part), 'utf8') === inputs,
  );
}

/** Of all that dist/ is made of. Code that V8 compiled is for one version of Node. */
export function fingerprint() {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\n`);
  for (const name of INPUTS) addTo(hash, name);
  return hash.digest('hex');
}

function addTo(hash, name) {
  const full = path.join(ROOT, name);
  if (statSync(full).isDirectory()) {
    for (const each of readdirSync(full).sort()) addTo(hash, path.join(name, each));
    return;
  }
  if (name.endsWith('.test.ts')) return;
  const bytes = readFileSync(full);
  hash.update(`${name}\0${bytes.length}\0`).update(bytes);
}

/**
 * An empty folder to build in, on the same disk as where the result goes. Only for who holds the lock: what
 * a killed build has left is taken away.
 */
export function freshFolder() {
  for (const name of existsSync(DIST) ? readdirSync(DIST) : [])
    if (name.startsWith('.new') || name.startsWith('.old'))
      rmSync(path.join(DIST, name), { recursive: true, force: true });
  const folder = path.join(DIST, `.new-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** From here until `finish` the part counts as not built. */
export function putInPlace(part, fresh) {
  rmSync(stampOf(part), { force: true });
  const old = path.join(DIST, `.old-${process.pid}`);
  mkdirSync(old, { recursive: true });
  for (const folder of FOLDERS[part]) {
    const place = path.join(DIST, folder);
    if (existsSync(place)) renameSync(place, path.join(old, folder));
    renameSync(path.join(fresh, folder), place);
  }
  rmSync(old, { recursive: true, force: true });
}

/** `inputs` as they were before the build began: what was changed meanwhile is not in it. */
export function finish(part, inputs) {
  writeFileSync(stampOf(part), inputs);
}

function stampOf(part) {
  return path.join(DIST, `.built-${part}`);
}
