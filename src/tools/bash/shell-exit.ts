/**
 * What exit code 1 means when the last command of a line uses it for an answer rather than for a
 * failure. Undefined: the code is a failure, also when that cannot be told for sure.
 */
export function benignExit(command: string, exitCode: number): string | undefined {
  if (exitCode !== 1) return undefined;
  const last = lastCommand(command);
  if (last === undefined) return undefined;
  const words = programWords(last);
  const [program] = words;
  if (program === undefined) return undefined;
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name === 'git' ? gitMeaning(words.slice(1)) : MEANINGS.get(name);
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
const PREPARATION = /^(cd|pushd|export|set|unset|true|:|echo|printf|source|\.)(\s|$)/;

/**
 * Text of the command that decided the exit code. Undefined where this simple reading is not enough
 * (here-documents, blocks, background jobs, quotes left open).
 */
function lastCommand(command: string): string | undefined {
  const parts = splitCommands(command);
  if (parts === undefined) return undefined;
  const last = parts.at(-1);
  if (last === undefined || /^(if|for|while|until|case|select|function|\(|\{)/.test(last.text)) {
    return undefined;
  }
  // With `&&` the code may be that of an earlier command.
  for (let index = parts.length - 2; index >= 0; index--) {
    const part = parts[index];
    if (part?.then !== '&&') break;
    if (!PREPARATION.test(part.text)) return undefined;
  }
  return last.text;
}

interface CommandPart {
  readonly text: string;
  /** The separator that follows. */
  readonly then: string;
}

function splitCommands(command: string): readonly CommandPart[] | undefined {
  if (command.includes('<<')) return undefined;
  const parts: CommandPart[] = [];
  let start = 0;
  const close = (end: number, then: string): void => {
    const text = command.slice(start, end).trim();
    if (text !== '') parts.push({ text, then });
    start = end + then.length;
  };
  for (let at = 0; at < command.length; at++) {
    const skipped = skipQuoted(command, at);
    if (skipped === undefined) return undefined;
    at = skipped;
    const separator = separatorAt(command, at);
    if (separator === '') continue;
    if (separator === '&') return undefined;
    close(at, separator);
    at += separator.length - 1;
  }
  close(command.length, '');
  return parts;
}

/** Position of the last character of a quoted or bracketed stretch that starts here, else `at`. */
function skipQuoted(command: string, at: number): number | undefined {
  const char = command[at];
  if (char === '\\') return at + 1;
  if (char === "'" || char === '`') return endOf(command, at, char);
  if (char === '"') return endOfDoubleQuotes(command, at);
  if (char === '#' && /^$|\s/.test(command[at - 1] ?? '')) {
    const line = command.indexOf('\n', at);
    // A comment at the end would stand in the text of the last command; what is before it decides.
    return line === -1 ? command.length : line - 1;
  }
  if (char === '$' && command[at + 1] === '(') return endOfParentheses(command, at + 1);
  return at;
}

function endOf(command: string, at: number, quote: string): number | undefined {
  const end = command.indexOf(quote, at + 1);
  return end === -1 ? undefined : end;
}

function endOfDoubleQuotes(command: string, at: number): number | undefined {
  for (let index = at + 1; index < command.length; index++) {
    if (command[index] === '\\') index++;
    else if (command[index] === '"') return index;
  }
  return undefined;
}

function endOfParentheses(command: string, at: number): number | undefined {
  let depth = 0;
  for (let index = at; index < command.length; index++) {
    if (command[index] === '(') depth++;
    else if (command[index] === ')') {
      depth--;
      if (depth === 0) return index;
    }
  }
  return undefined;
}

function separatorAt(command: string, at: number): string {
  const two = command.slice(at, at + 2);
  if (two === '&&' || two === '||' || two === '|&') return two;
  const char = command[at] ?? '';
  // `2>&1` and `&>file` are redirections.
  if (char === '&') return command[at - 1] === '>' || command[at + 1] === '>' ? '' : '&';
  return char === ';' || char === '|' || char === '\n' ? char : '';
}

function programWords(text: string): readonly string[] {
  const words = text.split(/\s+/);
  while (/^(!|time|command|[A-Za-z_]\w*=\S*)$/.test(words[0] ?? '')) words.shift();
  return words;
}

function gitMeaning(args: readonly string[]): string | undefined {
  let index = 0;
  while (args[index]?.startsWith('-'))
    index += args[index] === '-C' || args[index] === '-c' ? 2 : 1;
  if (args[index] === 'diff') return 'Files differ';
  return args[index] === 'grep' ? 'No matches found' : undefined;
}
