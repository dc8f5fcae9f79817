import { renameSync } from 'node:fs';

/** Puts a file that cannot be used out of the way, where people can look at it. Its new name; the last such file gives way. */
export function setAside(path: string): string {
  const aside = `${path}.broken`;
  renameSync(path, aside);
  return aside;
}
