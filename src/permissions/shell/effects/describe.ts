import { unreachable } from '../../../lib/result.js';
import type { ShellPlace, ShellWord } from '../model.js';
import { readShell } from '../syntax/read.js';
import type { Effect, UnknownReason } from './effect.js';
import { effectsOf } from './effects.js';

/** The effects of a command line, one a line: `read a.txt`, `unknown: the option -o`. */
export async function describeEffects(code: string, place: ShellPlace): Promise<readonly string[]> {
  const { commands, opaque } = await readShell(code, place);
  const lines = commands.flatMap((command) => effectsOf(command).map(describeEffect));
  const all = opaque === undefined ? lines : [...lines, `unknown: ${opaque}`];
  return [...new Set(all)];
}

function describeEffect(effect: Effect): string {
  switch (effect.kind) {
    case 'path': {
      const { access, target, recursion } = effect;
      if (recursion === undefined) return `${access} ${textOf(target)}`;
      const links = recursion.follows ? ', links followed' : '';
      return `${access} ${textOf(target)} and all below${links}`;
    }
    case 'run': {
      const fed = { input: ' with words of its input', 'found-files': ' for each file found' };
      const more = effect.fed === undefined ? '' : fed[effect.fed];
      return `run ${effect.words.map(textOf).join(' ')}${more}`;
    }
    case 'shell':
      return `run as shell code: ${textOf(effect.code)}`;
    case 'code':
      return `run as code: ${textOf(effect.text)}`;
    case 'network':
      return 'use the network';
    case 'shell-state':
      return effect.what === 'directory' ? 'change the directory' : 'change the shell';
    case 'unknown': {
      const word = effect.word === undefined ? '' : ` ${effect.word.raw || effect.word.value}`;
      return `unknown: ${WHY[effect.why]}${word}`;
    }
    default:
      return unreachable(effect);
  }
}

const WHY: Readonly<Record<UnknownReason, string>> = {
  program: 'the program',
  subcommand: 'the subcommand',
  option: 'the option',
  operand: 'the operand',
  word: 'the value of',
  directory: 'the directory of',
  script: 'the code',
  assignment: 'the variable',
  depth: 'too many programs run each other:',
};

function textOf({ value, pattern, literal, raw }: ShellWord): string {
  return literal && pattern === undefined ? value : raw || 'files that are named elsewhere';
}
