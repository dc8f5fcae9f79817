import { expandHome, resolve } from '../../platform/fs/paths.js';
import type { CallView } from '../gate/view.js';
import type { PathSpellings } from '../paths/paths.js';
import { matches, segmentTokens } from '../rules/wildcard.js';
import { withoutBraces } from '../shell/braces.js';
import { readOnlyUse } from '../shell/effects/uses.js';
import { mayWriteUnknown, possibleFileUse } from '../shell/file-commands.js';
import { programOf, type ShellWord, type SimpleCommand } from '../shell/model.js';
import {
  filesInForeignCode,
  isForeign,
  patternsInForeignCode,
  runBySed,
} from '../shell/runners/foreign-code.js';
import { PROTECTED_NAMES } from './protected-paths.js';

/**
 * A protected file that a command line mentions, where nobody can tell whether it is the one that is
 * written: to a name that is decided at run time, by code that cannot be followed or that is of another
 * language. What commands that only look are given does not count, nor what is to be left out.
 */
export async function protectedDoubt(
  view: CallView,
  isHeld: (path: PathSpellings) => boolean,
): Promise<string | undefined> {
  const { command = '' } = view.call.subject;
  const { cwd } = view.call.workspace;
  const { judge } = view;
  const { commands = [], opaque } = (await view.shell()) ?? {};
  for (const { views, input } of commands) {
    for (const words of views) {
      const patterns = patternsInForeignCode(words, input).length;
      judge.budget.spend(words.length + (input.length >> 4) + patterns * STEPS_OF_PATTERN);
    }
  }
  const names = new Set(commands.flatMap(filesOfWritingCode));
  for (const one of commands) for (const name of await writtenByPattern(one, view)) names.add(name);
  // fail-closed: what is not known to be another file may be this one.
  if (opaque !== undefined || commands.some(writesSomewhere)) {
    const isFed = opaque !== undefined || TAKES_WORDS.test(command);
    const mentions = mentionsIn(command, commands, { isFed });
    const unknown = commands.flatMap(textsOfUnknown).flatMap(namesInUnknown);
    for (const name of [...mentions, ...unknown]) {
      names.add(name);
      for (const fitting of protectedFitting(name, { isGlob: true })) names.add(fitting);
    }
    if (command.includes('rev-parse') && GIT_TELLS.test(command)) names.add('.git');
  }
  // Protected by its name, or by where links lead from it.
  for (const name of names) {
    const path = resolve(cwd, expandHome(name, view.home));
    if (isHeld(await judge.spell(path))) return path;
  }
  return undefined;
}

/**
 * What is written by a pattern that the program itself fills in (`git checkout -- '.cl*'`), or that
 * cannot be looked up on the disk.
 */
async function writtenByPattern(
  { views, words, redirections, directories }: SimpleCommand,
  { judge, call }: CallView,
): Promise<readonly string[]> {
  const looked = new Set<string>();
  const targets = redirections.flatMap(({ access, target }) =>
    access === 'write' && target !== undefined ? [target] : [],
  );
  for (const { pattern, value } of [...words, ...targets]) {
    if (pattern === undefined) continue;
    const places = directories ?? [call.workspace.cwd];
    const found = await Promise.all(places.map((place) => judge.expand(place, pattern)));
    // Those are among the files that the command touches.
    if (found.every((files) => files !== undefined)) looked.add(value);
  }
  const redirected = targets.flatMap(({ pattern, value }) => (pattern === undefined ? [] : value));
  return [...views.flatMap((view) => possibleFileUse(view).writes), ...redirected]
    .filter((name) => !looked.has(name))
    .flatMap((name) => protectedFitting(name.replace(MAGIC, ''), { isGlob: true }));
}

/** In front of a path, git takes it for a remark about the path. */
const MAGIC = /^:(\([^)]*\)|[/!^]+)/;

/** By which git is asked where it keeps what is its own. */
const GIT_TELLS = /--(absolute-git-dir|git-(dir|common-dir|path))\b/;

/** Words that are decided at run time and say what is written: in them all counts. */
function textsOfUnknown({ views, redirections }: SimpleCommand): readonly string[] {
  const targets = redirections.flatMap(({ access, target }) =>
    access === 'write' && target !== undefined ? [target] : [],
  );
  const words = views.filter(mayWriteUnknown).flat();
  const isOpen = ({ literal, braced }: ShellWord): boolean => !literal || braced === true;
  return [...targets, ...words].filter(isOpen).map(({ raw }) => raw);
}

/** `${X:-.git}/config`, `.{git,x}/config`, `$(echo .git)/config`. */
function namesInUnknown(raw: string): readonly string[] {
  const given = raw.replace(/\$\{\w+:?[-=+]([^{}]*)\}/g, '$1').replace(/["']/g, '');
  // What is decided at run time may be empty.
  const filled = given.replace(/\$(\w+|\{\w+\}|[@*#?!$-])/g, '');
  return [...namesIn(filled), filled, ...protectedFitting(filled, { isGlob: true })];
}

/** By which code of another language shows that it does more than look. */
const WRITING =
  /writ|open\s+\S+\s+[wa]|>|\|\s*["'`]|\btee\b|(?<!\w)\.log\b|vacuum|append|unlink|remove|rename|copy|mkdir|truncate|symlink|chmod|system|exec|spawn|shell|output|logging|once|attach|backup|save|\bw\b|\bdump|delete|\brm|rmtree|\bcp(Sync)?\b|\b(mv|move|touch|utimes?|subprocess|popen|link|chown|install|replace)|put_contents/i;
/** By which code shows that it has patterns of files, or commands with such. */
const GLOBS = /glob|\bDir\b|fnmatch|system|exec|spawn|popen|subprocess|`|<\./i;
const EDITORS = /^([gr]?vim|r?view|n?vim|vi|vimdiff|ex|ed|emacs)$/;

/** Whether it is code of another language that may do more than look. */
export function isWritingCode(words: readonly ShellWord[], input: string): boolean {
  if (!isForeign(words)) return false;
  if (EDITORS.test(programOf(words) ?? '') || runBySed(words).length > 0) return true;
  const code = codeIn(words, input);
  return WRITING.test(code) || opensToWrite(code);
}

function codeIn(words: readonly ShellWord[], input: string): string {
  return [...words.slice(1).map(({ value }) => value), input].join('\n');
}

/** `open(name, 'w')`, `open(name, mode="a+b")`. */
function opensToWrite(code: string): boolean {
  const calls = code.replace(/,\s+/g, ',').split(/[)\n]/);
  return calls.some((call) => {
    const at = call.search(/open/i);
    return at !== -1 && /,\w*=?["'][rb]*[wax+]/i.test(call.slice(at));
  });
}

function filesOfWritingCode({ views, input }: SimpleCommand): readonly string[] {
  return views.flatMap((words) => {
    if (!isWritingCode(words, input)) return [];
    // A file for such code may come to it as a variable: `awk -v f=x`.
    const given = words.slice(1).flatMap(({ value }) => /^\w+=(.+)$/s.exec(value)?.[1] ?? []);
    const isInline = words.slice(1).some(({ value }) => /[\s(;>]/.test(value));
    const plain = (isInline ? words.slice(1) : []).flatMap(({ value }) =>
      /^[^-][^\s()]*$/.test(value) ? value : [],
    );
    const isGlob = GLOBS.test(codeIn(words, input));
    const patterns = [...patternsInForeignCode(words, input), ...given];
    const fitting = patterns.flatMap((pattern) => protectedFitting(pattern, { isGlob }));
    return [...filesInForeignCode(words, input), ...given, ...plain, ...fitting];
  });
}

/** Whether it writes to a name that is decided at run time. */
export function writesSomewhere({ views, redirections, directories }: SimpleCommand): boolean {
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
  /(?:--?(?:exclude|ignore|skip)s?(?:-[a-z]{1,12}){0,3}[=\s]+|-i?(?:path|name|wholename|regex)\s+)\S+/g;

/** `isFed`: what commands print may become words, or code, of others. */
function mentionsIn(
  command: string,
  commands: readonly SimpleCommand[],
  { isFed }: { readonly isFed: boolean },
): readonly string[] {
  const harmless = commands.flatMap(({ words }) =>
    isHarmless(words, { isFed }) ? words.slice(1).flatMap(({ raw }) => namesIn(raw)) : [],
  );
  const spared = new Map<string, number>();
  for (const name of harmless) spared.set(name, (spared.get(name) ?? 0) + 1);
  return namesIn(command.replace(LEFT_OUT, ' ')).filter((name) => {
    const count = spared.get(name) ?? 0;
    spared.set(name, count - 1);
    return count <= 0;
  });
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

const WILD = /[*?[]/;
/** It is compared with all names of protected files. */
const STEPS_OF_PATTERN = 50;
const MOST_SEGMENTS = 64;

/**
 * Protected paths that a pattern of names may stand for. As nearly everywhere a wildcard in front
 * stands for no hidden name. `isGlob`: it surely is a pattern of files; `.*` is mostly something else.
 */
export function protectedFitting(
  pattern: string,
  { isGlob }: { readonly isGlob: boolean },
): readonly string[] {
  const { texts, isCut } = withoutBraces(pattern);
  return texts.flatMap((text) => {
    const segments = text.toLowerCase().split('/');
    if (!WILD.test(text)) return text === pattern ? [] : [text];
    // fail-closed: among so many directories may be any.
    if (segments.length > MOST_SEGMENTS) return ['.git'];
    return segments.flatMap((segment, at) => {
      if (!WILD.test(segment)) return [];
      const before = segments.slice(0, at);
      const isTelling = /^\.?[a-z]/.test(segment) || isGlob || isCut;
      const names = isTelling ? namesFitting(segment, before.at(-1), isCut && isGlob) : [];
      const behind = segments.slice(at + 1);
      return [
        ...(at === 0 ? [] : [before.join('/')]),
        ...names.flatMap((name) => [
          [...before, name].join('/'),
          [...before, name, ...behind].join('/'),
        ]),
      ];
    });
  });
}

/** `isAny`: what stands in front may be a dot as well. */
function namesFitting(
  segment: string,
  above: string | undefined,
  isAny: boolean,
): readonly string[] {
  if (WILD.test(segment.charAt(0)) && !isAny) return [];
  const { directories, files, configured } = PROTECTED_NAMES;
  const tokens = segmentTokens(segment);
  const all = [...directories, ...files, '.config', ...(above === '.config' ? configured : [])];
  return all.filter((name) => matches(tokens, name));
}
