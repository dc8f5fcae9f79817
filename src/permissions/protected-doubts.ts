import { expandHome, resolve } from '../env/paths.js';
import { mayWriteUnknown, possibleFileUse } from './shell/file-commands.js';
import { filesInForeignCode, isForeign } from './shell/foreign-code.js';
import { programOf, type ShellWord, type SimpleCommand } from './shell/model.js';
import { readOnlyUse } from './shell/read-only.js';
import type { CallView } from './view.js';

/**
 * A protected file that a command line mentions, where nobody can tell whether it is the one that is
 * written: to a name that is decided at run time, by code that cannot be followed or that is of another
 * language. What commands that only look are given does not count, nor what is to be left out.
 */
export async function protectedDoubt(
  view: CallView,
  isHeld: (path: string) => boolean,
): Promise<string | undefined> {
  const { command = '' } = view.call.subject;
  const { cwd } = view.call.workspace;
  const reading = await view.shell();
  const commands = reading?.commands ?? [];
  const isProtected = (name: string): boolean => isHeld(resolve(cwd, expandHome(name, view.home)));
  const byCode = commands.flatMap(filesOfWritingCode).find(isProtected);
  if (byCode !== undefined) return byCode;
  // fail-closed: what is not known to be another file may be this one.
  const isOpen = reading?.opaque !== undefined || commands.some(writesSomewhere);
  const isFed = reading?.opaque !== undefined || TAKES_WORDS.test(command);
  return isOpen ? mentionsIn(command, commands, { isFed }).find(isProtected) : undefined;
}

/** By which code of another language shows that it does more than look. */
const WRITING =
  /writ|open\s*\(?[^)\n]*,\s*\w*=?["'][rb]*[wax+]|open\s+\S+\s+[wa]|>|append|unlink|remove|rename|copy|mkdir|truncate|symlink|chmod|system|exec|spawn|shell|output|logging|once|attach|backup|save|\bw\b|\bdump/i;
const EDITORS = /^(vim?|n?vim|ex|ed|emacs)$/;

function filesOfWritingCode({ views, input }: SimpleCommand): readonly string[] {
  return views.flatMap((words) => {
    if (!isForeign(words)) return [];
    const values = words.slice(1).map(({ value }) => value);
    const isWriting =
      EDITORS.test(programOf(words) ?? '') || WRITING.test([...values, input].join('\n'));
    if (!isWriting) return [];
    // A file for such code may come to it as a variable: `awk -v f=x`.
    const given = values.flatMap((value) => /^\w+=(.+)$/s.exec(value)?.[1] ?? []);
    return [...filesInForeignCode(words, input), ...given];
  });
}

function writesSomewhere({ views, redirections, directories }: SimpleCommand): boolean {
  const isRelative = (name: string): boolean => !name.startsWith('/');
  const written = redirections.filter(({ access }) => access === 'write');
  if (written.some(({ target }) => target?.literal !== true)) return true;
  if (views.some(mayWriteUnknown)) return true;
  if (directories !== undefined) return false;
  return (
    written.some(({ target }) => isRelative(target?.value ?? '')) ||
    views.some((words) => possibleFileUse(words).writes.some(isRelative))
  );
}

/** Commands whose words go nowhere by themselves. */
const SAYS = /^(echo|printf)$/;
const LOOKS = /^(source|\.|test|\[)$/;
/** Commands that take words out of what others print. */
const TAKES_WORDS = /\b(xargs|parallel|read|mapfile|readarray)\b/;
const LEFT_OUT =
  /(?:--?(?:exclude|ignore|skip)[\w-]*[=\s]+|-i?(?:path|name|wholename|regex)\s+)\S+/g;

/** `isFed`: what commands print may become words, or code, of others. */
function mentionsIn(
  command: string,
  commands: readonly SimpleCommand[],
  { isFed }: { readonly isFed: boolean },
): readonly string[] {
  const harmless = commands.flatMap(({ words }) =>
    isHarmless(words, { isFed }) ? words.slice(1).flatMap(({ raw }) => namesIn(raw)) : [],
  );
  const left = namesIn(command.replace(LEFT_OUT, ' '));
  for (const name of harmless) {
    const at = left.indexOf(name);
    if (at !== -1) left.splice(at, 1);
  }
  return left;
}

function isHarmless(words: readonly ShellWord[], { isFed }: { readonly isFed: boolean }): boolean {
  const program = programOf(words) ?? '';
  if (LOOKS.test(program)) return true;
  if (isFed || words[1]?.value === '-v') return false;
  return SAYS.test(program) || readOnlyUse(words) !== undefined;
}

function namesIn(text: string): string[] {
  return text.split(/[\s"'`;|&<>()=,{}\\]+/).filter((name) => name !== '');
}
