import { renameSync, rmSync } from 'node:fs';

/** Puts a file that cannot be used out of the way, where people can look at it. Its new name; the last such file gives way. */
export function setAside(path: string): string {
  const aside = `${path}.broken`;
  // A directory does not take the place of a file, nor a file that of a directory.
  rmSync(aside, { recursive: true, force: true });
  renameSync(path, aside);
  return aside;
}
