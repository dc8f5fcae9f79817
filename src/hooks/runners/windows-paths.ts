/**
 * Paths as Git Bash on Windows writes them. Its own runtime translates `PATH` and arguments, but not
 * what a script takes from another variable. Nothing here looks at the disk.
 */

const DRIVE = /^([A-Za-z]):(?=[\\/]|$)/;

/** `C:\x\y` becomes `/c/x/y`. Relative paths only change their slashes; network paths are left alone. */
export function gitBashPath(path: string): string {
  if (path.startsWith('\\\\') || path.startsWith('//')) return path;
  const slashes = path.replaceAll('\\', '/');
  const drive = DRIVE.exec(path)?.[1];
  if (drive === undefined) return slashes;
  const rest = slashes.slice(2);
  return `/${drive.toLowerCase()}${rest === '/' ? '' : rest}`;
}

/** The variables with those of the given names as Git Bash writes them. */
export function gitBashEnvironment(
  variables: Readonly<Record<string, string>>,
  names: ReadonlySet<string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      names.has(name) ? gitBashPath(value) : value,
    ]),
  );
}
