import type { FileSystem } from '../env/fs.js';
import { join, separator } from '../env/paths.js';
import { type Frontmatter, loadFrontmatter, type ParseYaml } from '../util/frontmatter.js';
import { plainHead } from '../util/plain-head.js';
import { visible } from '../util/visible.js';
import { isUniversal, splitPatterns } from './path-matcher.js';

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;

/** Every Markdown file below a directory of rules, by name. Links are followed, each directory once. */
export async function ruleFilesIn(
  fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>,
  directory: string,
): Promise<{ readonly files: readonly RuleFile[]; readonly cut: boolean }> {
  const files: RuleFile[] = [];
  const seen = new Set<string>();
  const open = [directory];
  let entries = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { real, found } = await entriesOf(fs, at, seen);
    for (const { name, kind } of found) {
      if (++entries > MOST_ENTRIES) return { files: files.sort(byPath), cut: true };
      // A name of a list is one step, so that nothing has to be normalised.
      const path = `${at}${separator}${name}`;
      if (kind === 'directory') open.push(path);
      else if (name.endsWith('.md')) files.push({ path, realDirectory: real });
    }
  }
  return { files: files.sort(byPath), cut: false };
}

export interface RuleFile {
  readonly path: string;
  /** The directory that it was found in, behind all links. */
  readonly realDirectory: string;
}

function byPath(a: RuleFile, b: RuleFile): number {
  return a.path < b.path ? -1 : 1;
}

async function entriesOf(
  fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>,
  directory: string,
  seen: Set<string>,
): Promise<{ real: string; found: readonly { name: string; kind: string }[] }> {
  try {
    const real = await fs.realPath(directory);
    if (seen.has(real)) return { real, found: [] };
    seen.add(real);
    const entries = await fs.list(directory);
    if (entries.every(({ kind }) => kind !== 'symlink')) return { real, found: entries };
    const found = await Promise.all(
      entries.map(async ({ name, kind }) =>
        kind === 'symlink'
          ? { name, kind: (await statOf(fs, join(directory, name))) ?? 'other' }
          : { name, kind },
      ),
    );
    return { real, found };
  } catch {
    // Not there, or not readable: then nothing in it can be loaded either.
    return { real: directory, found: [] };
  }
}

async function statOf(fs: Pick<FileSystem, 'stat'>, path: string): Promise<string | undefined> {
  try {
    return (await fs.stat(path))?.kind;
  } catch {
    // A loop of links; the reader says so for what looks like a rule.
    return undefined;
  }
}

/** A rule's head, and when it applies. */
export interface RuleHead {
  readonly body: string;
  readonly bodyLine: number;
  /** Absent: always. */
  readonly globs?: readonly string[];
  readonly notes: readonly string[];
}

/** Any mistake in the head makes the rule apply always: shown too often is better than never. */
export async function readRuleHead(
  text: string,
  parseYaml: ParseYaml | undefined,
): Promise<RuleHead> {
  const options = { known: ['paths'], ...(parseYaml === undefined ? {} : { parseYaml }) };
  const read = await loadFrontmatter(text, options);
  const { globs, note } = globsOf(read);
  return {
    body: read.body,
    bodyLine: read.bodyLine,
    ...(globs === undefined ? {} : { globs }),
    notes: [...problemNotes(read), ...(note === undefined ? [] : [note])],
  };
}

/** When a rule with a plain head, or none, applies; undefined: `readRuleHead` tells. */
export function plainGlobs(text: string): readonly string[] | 'always' | undefined {
  if (headIn(text) === 'none') return 'always';
  const head = plainHead(text);
  return head === undefined ? undefined : (globsOf(head).globs ?? 'always');
}

/** What a first part of a file says about its head. */
export function headIn(text: string): 'whole' | 'part' | 'none' {
  if (!/^\uFEFF?\s*---[ \t]*\r?\n/.test(text)) return 'none';
  return /\n(?:---|\.\.\.)[ \t]*\r?\n/.test(text) ? 'whole' : 'part';
}

function problemNotes({ problem, how }: Frontmatter): readonly string[] {
  if (problem === undefined) return [];
  const then = how === 'lines' ? '; it was read line by line' : '; it was taken for text';
  return [`its head is not valid YAML (line ${problem.line}: ${visible(problem.message)})${then}`];
}

function globsOf({ fields }: Pick<Frontmatter, 'fields'>): {
  globs?: readonly string[];
  note?: string;
} {
  const { paths } = fields;
  if (paths === undefined || paths === null) return {};
  const isList = Array.isArray(paths) && paths.every((one) => typeof one === 'string');
  if (typeof paths !== 'string' && !isList) {
    return { note: 'its paths are no patterns, so it applies always' };
  }
  const patterns =
    typeof paths === 'string'
      ? splitPatterns(paths)
      : (paths as readonly string[]).map((one) => one.trim()).filter((one) => one !== '');
  return patterns.length === 0 || patterns.some(isUniversal) ? {} : { globs: patterns };
}
