import { createPathJudge, type PathFileSystem } from './paths.js';
import { readShell } from './shell/read.js';
import { coverageOf } from './shell-grants.js';

export type { ShellReading, ShellWord, SimpleCommand } from './shell/model.js';
export { readShell } from './shell/read.js';

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
