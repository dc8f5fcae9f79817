import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Effect, PathEffect } from '../../src/permissions/shell/effects/effect.js';
import { effectsOf } from '../../src/permissions/shell/effects/effects.js';
import { readShell } from '../../src/permissions/shell/syntax/read.js';
import { quote } from '../differential/jail.js';
import type { Observation } from './observe.js';

/** What the model says of a command, worked out before it runs; undefined where it makes no claim. */
export interface Prediction {
  /** What the command did that the model did not say. */
  misses(observed: readonly Observation[]): readonly string[];
}

interface Place {
  readonly cwd: string;
  readonly home: string;
}

export async function predict(
  argv: readonly string[],
  place: Place,
): Promise<Prediction | undefined> {
  const { commands, opaque } = await readShell(argv.map(quote).join(' '), place);
  const effects = commands.flatMap(effectsOf);
  // Words out of a file or of other output may be any.
  const isOpen = (one: Effect) =>
    /^(unknown|shell|code)$/.test(one.kind) || (one.kind === 'run' && one.fed !== undefined);
  if (opaque !== undefined || effects.some(isOpen)) return undefined;
  const claims = effects.filter((one) => one.kind === 'path').map((one) => claimOf(one, place));
  const programs = effects.flatMap((one) =>
    one.kind === 'run' ? (one.words[0]?.value ?? '') : [],
  );
  if (Object.hasOwn(SCRIPTS, argv[0] ?? '')) programs.push(SCRIPTS[argv[0] ?? ''] ?? '');
  const hasNetwork = effects.some(({ kind }) => kind === 'network');
  return {
    misses: (observed) =>
      observed
        .filter((one) => {
          if (one.kind === 'network') return !hasNetwork;
          if (one.kind === 'run')
            return !programs.some((name) => path.basename(name) === path.basename(one.path));
          return (
            !isExempt(argv[0] ?? '', one, place) && !claims.some((claim) => covers(claim, one))
          );
        })
        .map((one) =>
          one.kind === 'path'
            ? `${one.access} ${one.path}`
            : `${one.kind} ${one.kind === 'run' ? one.path : one.to}`,
        ),
  };
}

interface Claim {
  readonly access: PathEffect['access'];
  readonly isRecursive: boolean;
  /** The names that the target has, and, where links are followed, where those below it lead. */
  readonly paths: readonly string[];
}

function claimOf({ access, target, moves = [], recursion }: PathEffect, { cwd }: Place): Claim {
  const literal = path.resolve(cwd, ...moves.map(({ value }) => value), target.value);
  const names = [literal, inRealDirectory(literal), resolved(literal)];
  const isRecursive = recursion !== undefined;
  const below = recursion?.follows === true ? linksBelow(resolved(literal)) : [];
  return { access, isRecursive, paths: [...new Set([...names, ...below])] };
}

function covers(
  { access, isRecursive, paths }: Claim,
  seen: Extract<Observation, { kind: 'path' }>,
): boolean {
  const isAt = paths.some((one) => one === seen.path || (isRecursive && isBelow(seen.path, one)));
  // A directory that is opened on the way tells names, and leads to what is read or written.
  if (seen.access === 'list') return isAt || paths.some((one) => isBelow(one, seen.path));
  // What is written may be replaced, and directories on the way to it be made.
  if (access === 'write' && seen.access === 'delete') return isAt;
  if (access === 'write' && seen.access === 'write')
    return isAt || paths.some((one) => isBelow(one, seen.path));
  return isAt && access === seen.access;
}

function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}

function resolved(where: string): string {
  try {
    return realpathSync(where);
  } catch {
    return inRealDirectory(where);
  }
}

function inRealDirectory(where: string): string {
  try {
    return path.join(realpathSync(path.dirname(where)), path.basename(where));
  } catch {
    return where;
  }
}

/** Where links below a directory lead, and those below where they lead. */
function linksBelow(directory: string, seen = new Set<string>()): string[] {
  if (seen.has(directory) || seen.size > 100) return [];
  seen.add(directory);
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const where = path.join(directory, name);
    const stat = lstatSync(where);
    if (stat.isDirectory()) return linksBelow(where, seen);
    if (!stat.isSymbolicLink()) return [];
    const target = resolved(where);
    return [target, ...linksBelow(target, seen)];
  });
}

/** The loader, locales, time zones, terminals and the names of users: the same for whatever is run. */
const EVERYWHERE =
  /^\/(lib|lib64|usr\/lib|usr\/lib64|usr\/libexec|usr\/share\/(locale|zoneinfo|terminfo|i18n)|proc|sys|dev)(\/|$)|^\/etc\/(ld\.so\.\w+|localtime|passwd|group|nsswitch\.conf|terminfo|inputrc|locale\.alias|selinux)(\/|$)/;

/** Configuration that a program's documentation names, by program. */
const DOCUMENTED: Readonly<Record<string, RegExp>> = {
  // Its repository, whose index `git status` and `git diff` bring up to date, and its settings and ignore files.
  git: /\/\.git(\/|$)|\/(\.gitconfig|\.config\/git\/\w+|\.gitattributes|\.gitignore|\.mailmap|\.gitmodules)$|^\/etc\/(gitconfig|gitattributes)$|^\/usr\/share\/git-core(\/|$)/,
  file: /^\/(etc|usr\/share\/misc|usr\/share\/file)\/magic/,
  rg: /\/\.((git|rg)?ignore|gitconfig)$|\/\.git(\/|$)/,
  df: /^\/etc\/mtab$/,
  // Files for what does not fit into memory.
  sort: /^\/tmp\/sort\w+$/,
  tac: /^\/tmp\/tac\w+$/,
  // Beside the file: its new content, and the names under which it is removed.
  sed: /\/sed\w{6}$/,
  shred: /\/0+$/,
  // Opened and closed again where the file of its words is missing.
  xargs: /^\/$/,
};

/** Programs that are scripts, with what those run. */
const SCRIPTS: Readonly<Record<string, string>> = { egrep: 'grep', fgrep: 'grep' };

function isExempt(
  program: string,
  { access, path: where }: Extract<Observation, { kind: 'path' }>,
  { cwd }: Place,
): boolean {
  // What walks a tree opens the directory that it starts in, to come back to it.
  if (access === 'list' && where === realpathSync(cwd)) return true;
  if (EVERYWHERE.test(where)) return access !== 'delete';
  // A script is read by its shell.
  if (access === 'read' && where.startsWith(`/usr/bin/${program}`)) return true;
  if (program === 'pwd') return access === 'list';
  // Tracked files of the work tree, which rules compare with the index.
  if (program === 'git' && /^(read|list)$/.test(access) && isBelow(where, realpathSync(cwd)))
    return true;
  const documented = Object.hasOwn(DOCUMENTED, program) ? DOCUMENTED[program] : undefined;
  return documented?.test(where) === true;
}
