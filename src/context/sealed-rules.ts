import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import { type FileSeal, isUnbroken, sealOf } from '../env/file-seal.js';
import type { FileStat } from '../env/fs.js';
import { separator } from '../env/paths.js';
import { isRecord } from '../util/own.js';
import type { Place, WaitingRule } from './instruction-entry.js';
import { type InstructionReader, isLocated, type Sought } from './instruction-reader.js';
import type { FoundRules, RuleFile, RuleFiles } from './rule-files.js';

/** What is needed to find a directory of rules as an earlier start has left it. */
export interface SealParts {
  readonly fs: RuleFiles;
  readonly reader: Pick<InstructionReader, 'takesPlain'>;
  readonly memory?: FileMemory;
}

/** What all rules of a directory have in common. */
export interface RuleGround {
  readonly place: Omit<Place, 'path'>;
  fitsFor(globs: readonly string[]): (path: string) => boolean;
}

/** A rule that was looked at. */
export interface Looked {
  readonly rule: Place;
  readonly sought: Sought;
  /** Absent: it does not wait. */
  readonly globs: readonly string[] | undefined;
}

export interface SealedRules {
  /** In the order of their paths. */
  readonly waiting: readonly WaitingRule[];
  /** Those that do not wait: they are read each time. */
  readonly rest: FoundRules;
}

interface Said {
  readonly seal: FileSeal;
  /** Of each sealed file what it waits for. */
  readonly globs: readonly (readonly string[])[];
  /** Files besides, by their paths from the directory on. */
  readonly others: readonly string[];
}

const WHAT = 'rules';
const DRAWER = 'seals';

/** The rules of a directory in which nothing has changed since a start that has seen them all. */
export async function sealedRules(
  { fs, reader, memory = NO_MEMORY }: SealParts,
  directory: string,
  ground: RuleGround,
): Promise<SealedRules | undefined> {
  const stat = directoryNow(fs, directory);
  const said = stat && memory.drawer(DRAWER).recall(WHAT, directory, stat);
  if (!isSaid(said) || !(await isUnbroken(fs, directory, said.seal))) return undefined;
  const { real, files } = said.seal;
  if (!mayBeSealed(reader, ground, { path: directory, real })) return undefined;
  const waiting = files.map((file, at): WaitingRule => {
    const path = `${directory}${separator}${file}`;
    return new SealedRule({ path, real: `${real}${separator}${file}` }, said.globs[at], ground);
  });
  const others = said.others.map((file): RuleFile => {
    const path = `${directory}${separator}${file}`;
    return { path, realDirectory: parentOf(`${real}${separator}${file}`) };
  });
  return { waiting, rest: { files: others, closed: [], cut: false } };
}

/** Notes what a look has found, for the next start. */
export function sealRules(
  { reader, memory = NO_MEMORY }: SealParts,
  directory: string,
  from: {
    readonly found: FoundRules;
    readonly ground: RuleGround;
    readonly looked: readonly Looked[];
    /** When that was. */
    readonly at: number;
  },
): void {
  const { found, at } = from;
  const { seen } = found;
  const waiting = from.looked.filter(
    ({ globs, sought }) => globs !== undefined && isLocated(sought),
  );
  const top = seen?.folders[0];
  if (seen === undefined || top === undefined) return;
  if (!mayBeSealed(reader, from.ground, { path: directory, real: seen.real })) return;
  const below = (path: string): string => path.slice(directory.length + 1);
  memory.drawer(DRAWER).note(WHAT, directory, top.stat, (): Said | undefined => {
    const files = waiting.flatMap(({ rule, sought }) => {
      const stat = isLocated(sought) ? sought.stat : undefined;
      return stat === undefined ? [] : [{ path: below(rule.path), stat }];
    });
    const seal = sealOf({ ...seen, files }, at);
    if (seal === undefined || files.length < waiting.length) return undefined;
    const known = new Set(waiting.map(({ rule }) => rule.path));
    const others = found.files.filter(({ path }) => !known.has(path));
    return {
      seal,
      globs: waiting.map(({ globs = [] }) => globs),
      others: others.map(({ path }) => below(path)),
    };
  });
}

/** fail-closed: above the project, and in folders that a session comes to, each file is looked at closely. */
function mayBeSealed(
  reader: SealParts['reader'],
  { place: { nested, aboveProject, within } }: RuleGround,
  at: { readonly path: string; readonly real: string },
): boolean {
  return nested !== true && aboveProject !== true && reader.takesPlain({ ...at, within });
}

/** A rule of which only its path and its patterns are known; all else is made when it is asked for. */
class SealedRule implements WaitingRule {
  readonly real: string;
  readonly globs: readonly string[];
  readonly #path: string;
  readonly #ground: RuleGround;
  #fits: ((path: string) => boolean) | undefined;

  constructor(at: { path: string; real: string }, globs: unknown, ground: RuleGround) {
    this.real = at.real;
    this.globs = globs as readonly string[];
    this.#path = at.path;
    this.#ground = ground;
  }

  get place(): Place {
    return { ...this.#ground.place, path: this.#path };
  }

  fits(path: string): boolean {
    this.#fits ??= this.#ground.fitsFor(this.globs);
    return this.#fits(path);
  }
}

function directoryNow(fs: RuleFiles, directory: string): FileStat | undefined {
  try {
    return fs.lstatNow?.(directory);
  } catch {
    // Whoever lists it says why it cannot be looked at.
    return undefined;
  }
}

/** fail-closed: only lists of patterns let rules wait. */
function isSaid(value: unknown): value is Said {
  if (!isRecord(value) || !isRecord(value.seal)) return false;
  const { globs, others } = value;
  const { files } = value.seal;
  return (
    Array.isArray(globs) &&
    Array.isArray(files) &&
    globs.length === files.length &&
    globs.every(isTexts) &&
    Array.isArray(others) &&
    others.every((one) => typeof one === 'string')
  );
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf(separator));
}
