// Programs that some tests drive (a terminal, a repository). As root on Debian they are installed, unless
// PORTCULLIS_NO_INSTALL=1 forbids it; elsewhere they are named.
import { spawnSync } from 'node:child_process';

/** Packages that are called otherwise than their program. */
const PACKAGES = { bwrap: 'bubblewrap' };

export function ensureSystemPackages(names) {
  const missing = names.filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  if (missing.length === 0) return;
  const canInstall =
    process.env.PORTCULLIS_NO_INSTALL !== '1' &&
    process.getuid?.() === 0 &&
    spawnSync('sh', ['-c', 'command -v apt-get']).status === 0;
  if (canInstall) {
    process.stderr.write(
      `installing with apt-get, for tests: ${missing.join(', ')} (PORTCULLIS_NO_INSTALL=1 skips this)\n`,
    );
    spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 2] });
    // One by one: a package that cannot be had must not keep the others away.
    for (const name of missing) {
      const options = { stdio: ['ignore', 'ignore', 2] };
      spawnSync('apt-get', ['install', '-y', '-qq', PACKAGES[name] ?? name], options);
    }
  }
  const still = missing.filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  if (still.length > 0)
    process.stderr.write(
      `not available: ${still.join(', ')}; the tests that need it are skipped\n`,
    );
}
