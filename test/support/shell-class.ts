import { coverageOf } from '../../src/permissions/grants/shell-grants.js';
import { createPathJudge, type PathFileSystem } from '../../src/permissions/paths/paths.js';
import { readShell } from '../../src/permissions/shell/syntax/read.js';

export type { ShellReading, ShellWord, SimpleCommand } from '../../src/permissions/shell/model.js';
export { readShell } from '../../src/permissions/shell/syntax/read.js';

export type ShellClass =
  | { readonly kind: 'read-only' }
  /** Nothing but reading, and simple file commands or redirections that write here. */
  | { readonly kind: 'writes'; readonly paths: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string };

/** What a command line does by itself, whatever the rules say. */
export async function classify(
  command: string,
  place: {
    readonly cwd: string;
    readonly roots: readonly string[];
    readonly home: string;
    readonly fs: PathFileSystem;
  },
): Promise<ShellClass> {
  const reading = await readShell(command, place);
  const judge = createPathJudge(place.fs, place);
  const coverage = await coverageOf(reading, {
    ...place,
    judge,
    allow: [],
    names: [],
    looking: true,
    fileCommands: true,
  });
  if (!coverage.covered) return { kind: 'unknown', reason: coverage.reason };
  return coverage.writes.length === 0
    ? { kind: 'read-only' }
    : { kind: 'writes', paths: coverage.writes };
}
