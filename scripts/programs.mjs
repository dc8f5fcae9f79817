// The programs that tests drive, and Debian's packages of them: the one list for `npm test` and for the tests themselves.
// Imports nothing but Node's own modules, because nothing else may be installed yet.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import path from 'node:path';

const PACKAGES = {
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  fish: 'fish',
  git: 'git',
  openssl: 'openssl',
  perl: 'perl',
  postgres: 'postgresql',
  python3: 'python3',
  strace: 'strace',
  tmux: 'tmux',
  zsh: 'zsh',
};
const POSTGRES = '/usr/lib/postgresql';

/**
 * The path of an installed program.
 * @param {keyof typeof PACKAGES} name
 */
export function findProgram(name) {
  const directories = [...(process.env.PATH ?? '').split(path.delimiter), ...postgresDirectories()];
  return directories.map((directory) => path.join(directory, name)).find(isExecutable);
}

function missingPrograms() {
  return Object.keys(PACKAGES).filter((name) => findProgram(name) === undefined);
}

/** Installs what is missing, as root on Debian and unless PORTCULLIS_NO_INSTALL=1. Returns what is still missing. */
export function ensurePrograms() {
  const missing = missingPrograms();
  const mayInstall = process.env.PORTCULLIS_NO_INSTALL !== '1' && process.getuid?.() === 0;
  if (missing.length === 0 || !mayInstall || findProgram('apt-get') === undefined) return missing;
  const packages = missing.map((name) => PACKAGES[name]);
  process.stderr.write(
    `installing for the tests: ${packages.join(' ')} (PORTCULLIS_NO_INSTALL=1 skips this)\n`,
  );
  const options = {
    stdio: ['ignore', 'ignore', 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], options);
  // One by one: a package that cannot be had must not keep the others away.
  for (const name of packages) {
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], options);
  }
  return missingPrograms();
}

/** Debian keeps the server's programs out of PATH. The newest version first. */
function postgresDirectories() {
  try {
    const versions = readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => path.join(POSTGRES, version, 'bin'));
  } catch {
    return [];
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
