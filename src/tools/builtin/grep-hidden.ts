import { resolve } from '../../env/paths.js';

interface Searched {
  /** What ripgrep printed, with a NUL after each path. */
  readonly output: string;
  /** Whether it is nothing but paths. */
  readonly pathsOnly: boolean;
  /** The directory that its paths are relative to. */
  readonly directory: string;
  readonly isHidden: (path: string) => Promise<boolean>;
}

/** Takes out what was found in files that may not be read. */
export async function withoutHidden(
  searched: Searched,
): Promise<{ readonly output: string; readonly hidden: number }> {
  const { output, pathsOnly, directory, isHidden } = searched;
  const known = new Map<string, boolean>();
  const hides = async (path: string): Promise<boolean> => {
    const found = known.get(path) ?? (await isHidden(resolve(directory, path)));
    known.set(path, found);
    return found;
  };
  const kept: string[] = [];
  const pieces = output.split(pathsOnly ? '\0' : '\n');
  for (const piece of pieces) {
    const end = piece.indexOf('\0');
    const path = pathsOnly ? piece : end === -1 ? '' : piece.slice(0, end);
    if (path === '' || !(await hides(path))) kept.push(piece);
  }
  const hidden = [...known.values()].filter((is) => is).length;
  return { output: kept.join(pathsOnly ? '\0' : '\n'), hidden };
}
