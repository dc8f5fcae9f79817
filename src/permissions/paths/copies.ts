import { systemCodeOf } from '../../errors.js';
import { basename, resolve } from '../../platform/fs/paths.js';
import type { PathEffect } from '../shell/effects/effect.js';
import { isPath } from '../shell/effects/trees.js';
import { effectsWherever } from '../shell/effects/uses.js';
import type { ShellWord } from '../shell/model.js';
import type { PathJudge } from './paths.js';

/** A look at one file of a target takes as long as so many steps of our own. */
const STEPS_OF_FILE = 20;

/**
 * Files that a copy writes because its target has them already, under the names of what is copied. The command names
 * none of them, and each may be a link. Undefined: they cannot be told.
 */
export async function overwrittenBy(
  words: readonly ShellWord[],
  directories: readonly string[],
  judge: PathJudge,
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  for (const effect of effectsWherever(words).filter(isPath)) {
    if (effect.onto === undefined || !effect.target.literal) continue;
    for (const directory of directories) {
      const pairs = await pairsOf(effect, directory, judge);
      // fail-closed: which files are copied is decided by the shell.
      if (pairs === undefined) return undefined;
      const isDeep = effect.recursion !== undefined;
      for (const pair of pairs) await addExisting(found, pair, { judge, isDeep });
    }
  }
  return found;
}

interface Pair {
  readonly source: string;
  readonly target: string;
}

/** What is copied, each with the name that its copy has. */
async function pairsOf(
  { target: source, moves = [], onto }: PathEffect,
  directory: string,
  judge: PathJudge,
): Promise<readonly Pair[] | undefined> {
  if (onto === undefined) return [];
  const from = moves.reduce((at, { value }) => resolve(at, value), directory);
  const expand = async (path: string, pattern: string | undefined) =>
    pattern === undefined ? [resolve(from, path)] : await judge.expand(from, pattern);
  const sources = await expand(source.value, source.pattern);
  const targets = await expand(onto.path, onto.pattern);
  if (sources === undefined || targets === undefined) return undefined;
  const pairs: Pair[] = [];
  for (const one of sources) {
    for (const target of targets) {
      const isInto = onto.named === 'always' || (await judge.spell(target)).kind === 'directory';
      const isBelow = isInto && onto.named !== 'never';
      if (isBelow) pairs.push({ source: one, target: resolve(target, basename(one)) });
      // Of `dir/` some programs copy only the content.
      if (!isBelow || source.value.endsWith('/')) pairs.push({ source: one, target });
    }
  }
  return pairs;
}

async function addExisting(
  found: string[],
  first: Pair,
  { judge, isDeep }: { readonly judge: PathJudge; readonly isDeep: boolean },
): Promise<void> {
  const queue = [first];
  for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
    const { source, target } = pair;
    judge.budget.spend(STEPS_OF_FILE);
    const there = await judge.disk.lstat(target);
    if (there === undefined) continue;
    if (there.kind !== 'directory') found.push(target);
    else if (isDeep) {
      for (const name of await namesIn(source, judge)) {
        queue.push({ source: resolve(source, name), target: resolve(target, name) });
      }
    }
  }
}

/** None where it is a file, or is not there. */
async function namesIn(directory: string, { disk }: PathJudge): Promise<readonly string[]> {
  try {
    return (await disk.list(directory)).map(({ name }) => name);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    // fail-closed: what cannot be listed may be copied all the same.
    if (code !== 'ENOTDIR' && code !== 'ENOENT') throw thrown;
    return [];
  }
}
