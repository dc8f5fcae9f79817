import { gitDirectory, resolve } from '../../platform/fs/paths.js';
import type { TouchedPath } from '../../tools/tool.js';
import type { PathFileSystem, PathJudge } from '../paths/paths.js';
import { coveringRule, type PathRule, pathRulesIn } from '../rules/list.js';
import type { Rule } from '../rules/rule.js';
import { type IndexEntry, indexEntry, readIndex } from './index-file.js';

/** A file that git keeps and that a rule is about. */
export interface RestrictedFile extends IndexEntry {
  /** From the root of the working tree. */
  readonly name: string;
  readonly rule: Rule;
}

interface RestrictedFiles {
  readonly files: readonly RestrictedFile[];
  readonly indexMs: number;
}

/** Looking for the other names of a file that a link or a working tree may stand for. */
const STEPS_OF_STAND_IN = 10;
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
/**
 * The files of a working tree that git keeps and that rules cover. Undefined when git's list cannot be
 * followed.
 */
export async function restrictedFiles(
  rules: readonly Rule[],
  tree: { readonly roots: readonly string[]; readonly access: 'read' | 'write' },
  { disk: fs, budget, trees }: Pick<PathJudge, 'disk' | 'budget' | 'trees'>,
): Promise<RestrictedFiles | undefined> {
  const [root = '/'] = tree.roots;
  const file = indexOfTree(root);
  if (file === undefined) return undefined;
  const stat = await fs.lstat(file);
  if (stat === undefined) return { files: [], indexMs: 0 };
  const bytes = await fs.readBytes(file, { maxBytes: MAX_INDEX_BYTES });
  const files: RestrictedFile[] = [];
  const pathRules: readonly PathRule[] = pathRulesIn(rules);
  const standIns = tree.roots.some((one) => trees.leadsTo(one));
  const isWhole = readIndex(bytes, (raw, at) => {
    const name = decoded(raw);
    if (standIns) budget.spend(STEPS_OF_STAND_IN);
    const standsFor = standIns
      ? tree.roots.flatMap((one) => trees.standsFor(`${one}/${name}`))
      : [];
    const rule = coveringRule(pathRules, touchedIn(tree, name, standsFor), budget);
    if (rule !== undefined) files.push({ name, rule, ...indexEntry(bytes, at) });
  });
  return isWhole ? { files, indexMs: stat.mtimeMs } : undefined;
}

/** Every name that git keeps, from the root of the working tree; undefined when that cannot be told. */
export async function trackedNames(
  root: string,
  { disk: fs, budget }: Pick<PathJudge, 'disk' | 'budget'>,
): Promise<ReadonlySet<string> | undefined> {
  const file = indexOfTree(root);
  if (file === undefined || (await fs.lstat(file)) === undefined) return new Set();
  const names = new Set<string>();
  const bytes = await fs.readBytes(file, { maxBytes: MAX_INDEX_BYTES });
  return readIndex(bytes, (raw) => {
    budget.spend();
    names.add(decoded(raw));
  })
    ? names
    : undefined;
}

/** Whether git would see at once that the file is as it was put into the index. */
export async function isUnchanged(
  path: string,
  file: RestrictedFile,
  { fs, indexMs }: { readonly fs: PathFileSystem; readonly indexMs: number },
): Promise<boolean> {
  const stat = await fs.lstat(path);
  if (stat === undefined || stat.size !== file.size) return false;
  // What was written in the same moment as the index may differ all the same.
  return Math.abs(stat.mtimeMs - file.mtimeMs) < 1 && stat.mtimeMs < Math.floor(indexMs);
}

function indexOfTree(root: string): string | undefined {
  const own = gitDirectory(root);
  return own === undefined ? undefined : resolve(own, 'index');
}

function touchedIn(
  { roots, access }: { readonly roots: readonly string[]; readonly access: 'read' | 'write' },
  name: string,
  standsFor: readonly string[],
): readonly TouchedPath[] {
  const [literal = '', ...resolved] = roots.map((root) => `${root}/${name}`);
  return [{ access, spellings: { literal, real: literal, resolved, standsFor } }];
}

function decoded(name: string): string {
  if (/^[\x00-\x7f]*$/.test(name)) return name;
  return new TextDecoder().decode(Uint8Array.from(name, (char) => char.charCodeAt(0)));
}
