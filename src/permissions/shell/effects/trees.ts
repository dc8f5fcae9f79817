import type { ShellWord } from '../model.js';
import type { Effect, PathEffect } from './effect.js';
import type { Recursion } from './recursion.js';

/** A directory that a command goes through by itself. */
export interface TreeUse extends Recursion {
  /** Where it begins, relative to the command's directory. */
  readonly start: ShellWord;
  /** What it does to what it finds; `delete`: it takes the start away as a whole. */
  readonly access: PathEffect['access'];
  /** Directories that it goes to first. */
  readonly moves?: readonly string[];
  readonly onto?: PathEffect['onto'];
}

/** The trees of a command, `onlyLooks` being what tells that a command which is run for what is found changes nothing. */
export function treesAmong(
  effects: readonly Effect[],
  onlyLooks: (words: readonly ShellWord[]) => boolean,
): readonly TreeUse[] {
  const paths = effects.filter(isPath);
  const deleted = new Set(paths.flatMap((one) => (one.access === 'delete' ? [one.target] : [])));
  return paths.flatMap(({ access, target: start, moves = [], recursion, onto }) => {
    if (recursion === undefined || recursion.namesOnly === true || recursion.made === true)
      return [];
    // What is moved is read as well.
    if (access === 'read' && deleted.has(start)) return [];
    const changes = recursion.handedTo?.some((run) => !onlyLooks(run)) === true;
    const use = { ...recursion, onto, start, moves: moves.map(({ value }) => value) };
    return [{ ...use, access: changes ? 'write' : access }];
  });
}

export function isPath(effect: Effect): effect is PathEffect {
  return effect.kind === 'path';
}
