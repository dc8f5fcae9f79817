import { dirname } from '../../platform/fs/paths.js';
import type { CallView } from '../gate/view.js';
import type { PathSpellings } from '../paths/paths.js';
import { removals } from '../shell/effects/uses.js';
import { programOf, type ShellWord, type SimpleCommand } from '../shell/model.js';
import { isCriticalPath } from './protected-paths.js';
import type { LineValues } from './workspace/values.js';

type Words = readonly ShellWord[];

interface RemovalPlace {
  readonly view: CallView;
  readonly valuesOf: LineValues;
}

/** A word by which a command line removes a place that holds everything else: root, home, working directories. */
export async function criticalRemoval(view: CallView): Promise<string | undefined> {
  const reading = await view.shell();
  if (reading === undefined) return undefined;
  const text = view.call.subject.command ?? '';
  // fail-closed: of code that cannot be followed the text says what it removes.
  if (reading.opaque !== undefined && removesAll(text)) return 'a place';
  const { lineValues } = await import('./workspace/values.js');
  const place = { view, valuesOf: lineValues({ text, reading }, view) };
  for (const command of reading.commands) {
    for (const words of command.views) {
      const named = removals(words);
      // What comes in by the input is a word without a text.
      const fed = named.some(({ raw }) => raw === '') && isWhole(words) ? fedWords(command) : [];
      for (const word of [...named, ...fed]) {
        if (await isCriticalAnywhere(word, { words, command }, place)) return word.raw;
      }
    }
  }
  return undefined;
}

/** Whether a text has an `rm -r` of a root, a home or dots, of which the text alone does not say what a shell makes. */
function removesAll(text: string): boolean {
  return text.split(/[;&|\n()`]+/).some((part) => {
    const words = part.split(/[\s"']+/);
    const at = words.findIndex((word) => /(?:^|[\\/])rm$/.test(word));
    const rest = at === -1 ? [] : words.slice(at + 1);
    return rest.some((word) => WHOLE.test(word)) && rest.some((word) => HOLDS_ALL.test(word));
  });
}

const WHOLE = /^-[a-zA-Z]*[rR]|^--r/;
const HOLDS_ALL = /^(?:~[\w+-]*|\$\{?(?:HOME|PWD|OLDPWD)\b[^\s}/]*\}?|[./*])[/.*]*$/;

/** Whether it takes directories with all that is in them. */
function isWhole(words: Words): boolean {
  return words.some(({ value }) => WHOLE.test(value));
}

/** Words of the command whose output, or of the text that, comes in. */
function fedWords({ fedBy, input }: SimpleCommand): Words {
  const given = fedBy?.words.slice(1).filter(({ value }) => !value.startsWith('-')) ?? [];
  const here = { value: '.', literal: true, raw: '.' };
  const listed = given.length === 0 && programOf(fedBy?.words ?? []) === 'ls' ? [here] : given;
  const texts = input.split(/[\s"']+/).filter((value) => value !== '');
  return [...listed, ...texts.map((value) => ({ value, literal: true, raw: value }))];
}

interface Removal {
  readonly words: Words;
  readonly command: SimpleCommand;
}

async function isCriticalAnywhere(
  word: ShellWord,
  { words, command }: Removal,
  place: RemovalPlace,
): Promise<boolean> {
  const meant = word.literal ? [word] : await place.valuesOf(word, command.directories);
  if (!word.literal && namesCritical(word.raw)) return true;
  // Where a variable is empty, only the text around it is left; that is looked at above.
  const rest = word.raw.replace(EXPANSION, '').replace(/"/g, '');
  const values = (meant ?? []).filter(
    ({ value }) => word.literal || (value !== '' && value !== rest),
  );
  for (const value of values) {
    for (const directory of command.directories ?? (await anyPlaces(value, words, place.view))) {
      if (await isCriticalWord(value, directory, place.view)) return true;
    }
  }
  return false;
}

const EXPANSION = /\$(?:\w+|\{[^{}]*\}|\([^()]*\))|`[^`]*`/g;

/** Expansions that name the home, a working directory or one above. */
const TELLS_CRITICAL =
  /^"?(?:~[\w+-]*|\$\{(?:HOME|PWD|OLDPWD)\b[^{}]*\}|\$(?:HOME|PWD|OLDPWD)\b|(?:\$\(|`)[^()`]*\b(?:pwd|realpath|readlink|dirname|show-toplevel)\b[^()`]*[)`])"?(?:\/?["/.*]*)$/;

/** `$DIR/` and `$DIR/*` are the root when the variable is empty. */
function namesCritical(raw: string): boolean {
  const after = raw.replace(EXPANSION, '$');
  return /^"?\$+"?\/["/*.]*$|^"?\$+\/["/*.]*$/.test(after) || TELLS_CRITICAL.test(raw);
}

/**
 * Where a command may be whose directory is not known: also above the project and the home; in the root only where it
 * removes one that is there.
 */
async function anyPlaces(
  { value }: ShellWord,
  words: Words,
  { call, home, judge }: CallView,
): Promise<readonly string[]> {
  const { cwd } = call.workspace;
  const places = [cwd, home, ...above(cwd), ...above(home)];
  const [top = ''] = value.split('/', 1);
  const isThere =
    isWhole(words) && top !== '' && (await judge.disk.lstat(`/${top}`).catch(() => 'unseen'));
  return isThere ? [...places, '/'] : places;
}

/** The directories above one, but for the root. */
function above(path: string): readonly string[] {
  const next = dirname(path);
  return next === dirname(next) ? [] : [next, ...above(next)];
}

async function isCriticalWord(
  word: ShellWord,
  directory: string,
  view: CallView,
): Promise<boolean> {
  const { cwd, roots } = view.call.workspace;
  const place = { cwd, roots, home: view.home };
  const isCritical = (path: PathSpellings): boolean =>
    path.perProcess === true || isCriticalPath(path, place);
  if (word.pattern === undefined) {
    return (await view.judge.spellFrom(directory, word.value)).some(isCritical);
  }
  // A wildcard directly below such a place empties it.
  const before = word.value.slice(0, word.value.lastIndexOf('/') + 1);
  const spelled = await view.judge.spellFrom(directory, before === '' ? '.' : before);
  const isWildAbove = /[*?[]/.test(word.pattern.slice(0, word.pattern.lastIndexOf('/') + 1));
  if (!isWildAbove && !spelled.some(isCritical)) return false;
  const { home } = place;
  const isNarrow =
    isWildAbove ||
    (/\w{2}/.test(word.value.slice(before.length).replace(/\[[^\]]*\]?/g, '')) &&
      !spelled.some((path) => isCriticalPath(path, { cwd: home, home, roots: [] })));
  // In a working directory a part of a name chooses some files, and those are looked at.
  const chosen = isNarrow ? await view.judge.expand(directory, word.pattern) : undefined;
  if (chosen === undefined) return true;
  return (await Promise.all(chosen.map(async (path) => await view.judge.spell(path)))).some(
    isCritical,
  );
}
