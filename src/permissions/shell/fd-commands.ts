import type { ShellWord } from './model.js';

/** A command that fd runs for what it finds, and which word tells it to. */
export interface FdCommand {
  readonly at: number;
  readonly command: readonly ShellWord[];
}

const LONG = /^--exec(?:-batch)?(?:=(.+))?$/s;
/** At the end of a bundle, its value perhaps attached; behind a letter that takes a value it is that value. */
const SHORT = /^-(?!-)[^tedEcjSoO=]*?[xX]=?(.*)$/s;

/** The words behind each option that runs something: up to the end, rather too many than too few. */
export function commandsOfFd(words: readonly ShellWord[]): readonly FdCommand[] {
  return words.flatMap((word, at) => {
    const found = LONG.exec(word.value) ?? SHORT.exec(word.value);
    if (found === null) return [];
    const attached = found[1] ?? '';
    const rest = words.slice(at + 1);
    return [{ at, command: attached === '' ? rest : [{ ...word, value: attached }, ...rest] }];
  });
}
