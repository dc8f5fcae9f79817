import type { AndOr, PipelineNode } from 'unbash';

/**
 * What exit code 1 means when the last command of a line uses it for an answer rather than for a
 * failure. Undefined: the code is a failure, also when that cannot be told for sure.
 */
export async function benignExit(command: string, exitCode: number): Promise<string | undefined> {
  if (exitCode !== 1) return undefined;
  const { parse } = await import('unbash');
  const { commands, errors = [] } = parse(command);
  const last = commands.at(-1);
  if (last === undefined || errors.length > 0 || last.background === true) return undefined;
  const node = decidingCommand(last.command);
  if (node?.type === 'TestCommand') return MEANINGS.get('[[');
  if (node?.type !== 'Command' || node.redirects.some(({ type }) => type === 'HereDoc')) {
    return undefined;
  }
  const words = [node.name, ...node.args].map((word) => (word?.type === 'Word' ? word.value : ''));
  const [program = '', ...args] = words[0] === 'command' ? words.slice(1) : words;
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name === 'git' ? gitMeaning(args) : MEANINGS.get(name);
}

/** The signal that a shell's exit code stands for, by the usual numbering. */
export function signalOfExit(exitCode: number): string | undefined {
  return SIGNALS.get(exitCode - 128);
}

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['grep', 'No matches found'],
  ['egrep', 'No matches found'],
  ['fgrep', 'No matches found'],
  ['rg', 'No matches found'],
  ['find', 'Some directories were inaccessible'],
  ['diff', 'Files differ'],
  ['cmp', 'Files differ'],
  ['test', 'Condition is false'],
  ['[', 'Condition is false'],
  ['[[', 'Condition is false'],
]);

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [4, 'SIGILL'],
  [5, 'SIGTRAP'],
  [6, 'SIGABRT'],
  [7, 'SIGBUS'],
  [8, 'SIGFPE'],
  [9, 'SIGKILL'],
  [11, 'SIGSEGV'],
  [13, 'SIGPIPE'],
  [14, 'SIGALRM'],
  [15, 'SIGTERM'],
]);

/** Commands that may stand before `&&`: their own failure is seen by what they print. */
const PREPARATION = /^(cd|pushd|export|set|unset|true|:|echo|printf|source|\.)$/;

/** The command that decided the exit code. Undefined where that cannot be told for sure. */
function decidingCommand(node: PipelineNode | AndOr): PipelineNode | undefined {
  if (node.type !== 'Pipeline' && node.type !== 'AndOr') return node;
  const last = node.commands.at(-1);
  if (last === undefined || node.type === 'Pipeline') return last && decidingCommand(last);
  // With `&&` the code may be that of an earlier command.
  for (let index = node.operators.length - 1; node.operators[index] === '&&'; index--) {
    const before = node.commands[index];
    const isPreparation = before?.type === 'Command' && PREPARATION.test(before.name?.value ?? '');
    if (!isPreparation) return undefined;
  }
  return decidingCommand(last);
}

function gitMeaning(args: readonly string[]): string | undefined {
  let index = 0;
  while (args[index]?.startsWith('-'))
    index += args[index] === '-C' || args[index] === '-c' ? 2 : 1;
  if (args[index] === 'diff') return 'Files differ';
  return args[index] === 'grep' ? 'No matches found' : undefined;
}
