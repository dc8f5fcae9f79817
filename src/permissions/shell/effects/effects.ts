import { nameOf, type ShellRedirection, type ShellWord, type SimpleCommand } from '../model.js';
import { modelOf } from '../programs/index.js';
import { type Effect, reads, unknown, writes } from './effect.js';
import { effectsOfProgram } from './program.js';

/** How deep programs may run each other: `env nice timeout 5 …`. */
const DEEPEST = 8;

/** All that a command of a command line does: its assignments, its redirections, and what it runs. */
export function effectsOf(command: SimpleCommand): readonly Effect[] {
  const effects = [
    ...command.assignments.map(({ value }) => unknown('assignment', value)),
    ...command.redirections.flatMap(effectsOfRedirection),
    ...effectsOfWords(command.words),
  ];
  if (command.directories !== undefined) return effects;
  // fail-closed: without a known directory a relative path is anywhere.
  const lost = effects.find(
    (effect) => effect.kind === 'path' && !effect.target.value.startsWith('/'),
  );
  return lost?.kind === 'path' ? [...effects, unknown('directory', lost.target)] : effects;
}

function effectsOfRedirection({ access, target }: ShellRedirection): readonly Effect[] {
  if (access === 'none' || target === undefined) return [];
  const effect = access === 'read' ? reads(target) : writes(target);
  return target.literal ? [effect] : [effect, unknown('word', target)];
}

/** What a program and its arguments do, with all that it runs in turn. */
export function effectsOfWords(words: readonly ShellWord[], depth = 0): readonly Effect[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const row = modelOf(nameOf(words));
  // A program that the table does not know may read all that it is given.
  if (row === undefined) return [unknown('program', first), ...rest.map((word) => reads(word))];
  const doubt = row.restrictsOnly === true ? [unknown('program', first)] : [];
  const effects = [...doubt, ...effectsOfProgram(row, rest)];
  return effects.flatMap((effect): readonly Effect[] => {
    if (effect.kind !== 'run') return [effect];
    if (depth >= DEEPEST) return [effect, unknown('depth', first)];
    return [effect, ...effectsOfWords(effect.words, depth + 1)];
  });
}
