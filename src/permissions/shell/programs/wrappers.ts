import { type Effect, reads, unknown } from '../effects/effect.js';
import { optionTable, parseOptions } from '../effects/options.js';
import { custom, type Program, program } from '../effects/program.js';
import { literalWord, type ShellWord } from '../model.js';

/** Programs that run the program that their operands name. */
export const WRAPPER_PROGRAMS: Readonly<Record<string, Program>> = {
  nohup: program('', 'run'),
  builtin: program('', 'run'),
  time: program('-p', 'run'),
  nice: program('-n: -# adjustment:', 'run'),
  stdbuf: program('-ioe: input: output: error:', 'run'),
  timeout: program('-v -ks: kill-after: signal: foreground preserve-status verbose', 'skip-run', {
    also: ({ operands: [duration] }) =>
      duration?.literal === true && /^[\d.]+[smhd]?$/.test(duration.value)
        ? []
        : [unknown('operand', duration)],
  }),
  command: custom(effectsOfCommand),
  env: custom(effectsOfEnv),
  xargs: custom(effectsOfXargs),
};

/** Whether it changes nothing about what it runs. */
export function isTransparent(name: string): boolean {
  return name !== 'env' && Object.hasOwn(WRAPPER_PROGRAMS, name);
}

/** With `-v` and `-V` it tells what a name stands for. */
function effectsOfCommand(words: readonly ShellWord[]): readonly Effect[] {
  const [first] = words;
  if (first === undefined) return [unknown('operand')];
  if (/^-[vV]$/.test(first.value)) {
    return words.filter(({ literal }) => !literal).map((word) => unknown('word', word));
  }
  if (first.value.startsWith('-')) return [unknown('option', first)];
  return [{ kind: 'run', words }];
}

export const ENV = optionTable(
  '-i0v -u: -C:read -S:shell ignore-environment null unset: chdir:read split-string:shell',
);

function effectsOfEnv(words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, ENV, { leading: true });
  const from = given.operands.findIndex(({ value }) => !/^[A-Za-z_]\w*=/.test(value));
  const set = given.operands.slice(0, from === -1 ? undefined : from);
  const moved = given.values.filter(({ option }) => option === 'C' || option === 'chdir');
  const code = given.values.filter(({ kind }) => kind === 'shell');
  return [
    ...given.unknown,
    // fail-closed: which variables the program finds is up to these words.
    unknown('assignment', set[0]),
    ...moved.map(({ word }) => unknown('directory', word)),
    ...code.map(({ word }): Effect => ({ kind: 'shell', code: word })),
    // Alone it prints variables, and those hold secrets.
    ...(from === -1
      ? [unknown('operand')]
      : [{ kind: 'run', words: given.operands.slice(from) } as const]),
  ];
}

const XARGS =
  optionTable(`-0rtx -nPLsd: -a:read null no-run-if-empty verbose max-args: max-procs: max-lines:
  max-chars: delimiter: arg-file:read`);

/** It adds words out of its input to the command. */
function effectsOfXargs(words: readonly ShellWord[]): readonly Effect[] {
  const given = parseOptions(words, XARGS, { leading: true });
  const run = given.operands.length === 0 ? [literalWord('echo')] : given.operands;
  const files = given.values.filter(({ kind }) => kind === 'read').map(({ word }) => reads(word));
  return [...given.unknown, ...files, { kind: 'run', words: run, fed: 'input' }];
}
