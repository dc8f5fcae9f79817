import { resolve } from '../platform/fs/paths.js';
import type { ShellWord, SimpleCommand } from './shell/model.js';
import type { TreeContext } from './shell/tree-use.js';
import type { CallView } from './view.js';

/** What surrounds a command of a call and changes which directories it goes through. */
export function contextOf(command: SimpleCommand, { call, facts }: CallView): TreeContext {
  const text = call.subject.command ?? '';
  return {
    fed: command.piped === true || command.input !== '',
    names: (variable) => text.includes(variable),
    mayBeSet: (variable) => text.includes(variable) || facts.exported?.().has(variable) === true,
  };
}

/** `env -C dir` and `sudo -D dir` go to a directory before they run anything. */
export function directoriesOf(
  { words, directories }: SimpleCommand,
  view: readonly ShellWord[],
): readonly string[] | undefined {
  if (directories === undefined || view === words) return directories;
  const moves = words.flatMap(({ value }, at) => {
    if (/^(-C|-D|--chdir|--cwd|--directory)$/.test(value)) return [words[at + 1]?.value ?? ''];
    const attached = /^(?:-[CD]|--(?:chdir|cwd|directory)=)(.+)$/s.exec(value)?.[1];
    return attached === undefined ? [] : [attached];
  });
  const moved = moves.flatMap((move) => directories.map((one) => resolve(one, move)));
  return [...directories, ...moved];
}
