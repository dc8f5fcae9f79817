import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf, PortcullisError } from '../../errors.js';
import { randomBytes } from '../random.js';
import { dirname, isInside, join, normalise } from './paths.js';

/** Files for this user and this process alone, in a directory that no other process could have prepared. */
export interface PrivateDirectory {
  /** Where it is, or will be once the first file is written. */
  readonly path: string;
  /**
   * Makes a new file, 0600, with the directories above it. Throws when something is there already, or
   * when the name leads out of the directory.
   */
  write(name: string, data: string | Uint8Array): void;
  /** Takes it away with all that is in it. */
  remove(): void;
}

const NONCE_BYTES = 16;

/** The name is random for each process, so that no other user can put a directory or a link there first. */
export function privateDirectory(parent: string, prefix: string): PrivateDirectory {
  const path = join(parent, `${prefix}${randomBytes(NONCE_BYTES).toString('hex')}`);
  let isMade = false;

  return {
    path,
    write(name, data) {
      const file = memberPath(path, name);
      if (!isMade) makeOwn(path);
      isMade = true;
      makeBetween(path, dirname(file));
      try {
        // fail-closed: fails where something is there already, a link included.
        writeFileSync(file, data, { flag: 'wx', mode: 0o600 });
      } catch (thrown) {
        throw cannotWrite(file, thrown);
      }
    },
    remove() {
      if (isMade) rmSync(path, { recursive: true, force: true });
      isMade = false;
    },
  };
}

/** fail-closed: refuses every spelling of a name that leads out of the directory. */
export function memberPath(directory: string, name: string): string {
  const parts = name.split(/[/\\]/);
  const isOdd =
    name === '' ||
    name.includes('\0') ||
    /^[A-Za-z]:/.test(name) ||
    parts.some((part) => part === '' || part === '.' || part === '..');
  const file = normalise(join(directory, name));
  if (isOdd || file === normalise(directory) || !isInside(file, directory)) {
    throw new PortcullisError(
      'io',
      `${JSON.stringify(name)} is no name for a file in a directory`,
      {
        remedy: 'Use a relative path without "." and "..".',
      },
    );
  }
  return file;
}

/** fail-closed: not recursive, so that a directory that is there already is an error. */
function makeOwn(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    // A strange umask may have taken away what the owner needs.
    chmodSync(path, 0o700);
  } catch (thrown) {
    throw cannotWrite(path, thrown);
  }
}

function makeBetween(top: string, directory: string): void {
  if (directory === top || !isInside(directory, top)) return;
  makeBetween(top, dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (thrown) {
    // fail-closed: a link in its place would lead elsewhere.
    if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw cannotWrite(directory, thrown);
    }
  }
}

function cannotWrite(path: string, thrown: unknown): PortcullisError {
  return new PortcullisError('io', `${path} cannot be made: ${messageOf(thrown)}`, {
    remedy: 'Make the directory for temporary files (TMPDIR) writable.',
    cause: thrown,
  });
}
