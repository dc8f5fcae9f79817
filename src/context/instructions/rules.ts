import { systemCodeOf } from '../../errors.js';
import { type Frontmatter, loadFrontmatter } from '../../lib/frontmatter.js';
import { visible } from '../../lib/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { separator } from '../../platform/fs/paths.js';
import { isUniversal, splitPatterns } from './path-matcher.js';

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;

type RuleFiles = Pick<FileSystem, 'list' | 'stat' | 'realPath'>;

/** A directory to look into. */
interface Open {
  readonly at: string;
  /** Absent: a link may lead there. */
  readonly real?: string;
}

/** What was found in a directory of rules. */
interface FoundRules {
  readonly files: readonly RuleFile[];
  /** Directories that are there and could not be looked into, and why. */
  readonly closed: readonly { readonly path: string; readonly why: unknown }[];
  /** There is more than is looked at. */
  readonly cut: boolean;
}

/** Every Markdown file below a directory of rules, by name. Links are followed, each directory once. */
export async function ruleFilesIn(fs: RuleFiles, directory: string): Promise<FoundRules> {
  const files: RuleFile[] = [];
  const closed: { readonly path: string; readonly why: unknown }[] = [];
  const seen = new Set<string>();
  const open: Open[] = [{ at: directory }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at } = next;
    const note = (thrown: unknown): undefined => {
      // What is not there, or is no directory, holds no rules; all else is told.
      if (!isAbsence(thrown)) closed.push({ path: at, why: thrown });
    };
    const real = next.real ?? (await fs.realPath(at).catch(note));
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    for (const { name, kind } of (await fs.list(at).catch(note)) ?? []) {
      if (++entries > MOST_ENTRIES) return { files: files.sort(byPath), closed, cut: true };
      // A name of a list is one step, so that nothing has to be normalised.
      const path = `${at}${separator}${name}`;
      const isLink = kind === 'symlink';
      const what = isLink ? await statOf(fs, path) : kind;
      if (what === 'directory') {
        // Below a directory whose real path is known only links lead elsewhere.
        open.push(isLink ? { at: path } : { at: path, real: `${real}${separator}${name}` });
      } else if (name.endsWith('.md')) files.push({ path, realDirectory: real });
    }
  }
  return { files: files.sort(byPath), closed, cut: false };
}

interface RuleFile {
  readonly path: string;
  /** The directory that it was found in, behind all links. */
  readonly realDirectory: string;
}

function byPath(a: RuleFile, b: RuleFile): number {
  return a.path < b.path ? -1 : 1;
}

function isAbsence(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
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
export async function readRuleHead(text: string): Promise<RuleHead> {
  const read = await loadFrontmatter(text);
  const { globs, note } = globsOf(read);
  return {
    body: read.body,
    bodyLine: read.bodyLine,
    globs,
    notes: [...problemNotes(read), ...(note === undefined ? [] : [note])],
  };
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
