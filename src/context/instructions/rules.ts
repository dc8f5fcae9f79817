import { systemCodeOf } from '../../errors.js';
import { loadFrontmatter } from '../../lib/frontmatter/frontmatter.js';
import { visible } from '../../lib/text/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import { isUniversal, splitPatterns } from './path-matcher.js';

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;

/** What was found in a directory of rules. */
interface FoundRules {
  readonly files: RuleFile[];
  /** Directories that are there and could not be looked into, and why. */
  readonly closed: { readonly path: string; readonly why: unknown }[];
  /** There is more than is looked at. */
  cut: boolean;
}

interface RuleFile {
  readonly path: string;
  /** The directory that it was found in, behind all links. */
  readonly realDirectory: string;
}

/** Every Markdown file below a directory of rules, by name. Links are followed, each directory once. */
export async function ruleFilesIn(
  fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>,
  directory: string,
): Promise<FoundRules> {
  const found: FoundRules = { files: [], closed: [], cut: false };
  const seen = new Set<string>();
  const open = [directory];
  let left = MOST_ENTRIES;
  for (let path = open.pop(); path !== undefined && !found.cut; path = open.pop()) {
    try {
      const real = await fs.realPath(path);
      if (seen.has(real)) continue;
      seen.add(real);
      for (const { name, kind } of await fs.list(path)) {
        found.cut = --left < 0;
        if (found.cut) break;
        const at = join(path, name);
        // A loop of links is nothing; the reader says so for what looks like a rule.
        const stat = kind === 'symlink' ? await fs.stat(at).catch(() => undefined) : { kind };
        if (stat?.kind === 'directory') open.push(at);
        else if (name.endsWith('.md')) found.files.push({ path: at, realDirectory: real });
      }
    } catch (thrown) {
      // What is not there, or is no directory, holds no rules; all else is reported.
      if (!['ENOENT', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) {
        found.closed.push({ path, why: thrown });
      }
    }
  }
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
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
  const { fields, body, bodyLine, problem, how } = await loadFrontmatter(text);
  const notes: string[] = [];
  if (problem !== undefined) {
    const then = how === 'lines' ? 'it was read line by line' : 'it was taken for text';
    const where = `line ${problem.line}: ${visible(problem.message)}`;
    notes.push(`its head is not valid YAML (${where}); ${then}`);
  }
  const globs = globsIn(fields.paths);
  if (globs === undefined) notes.push('its paths are no patterns, so it applies always');
  const isAlways = globs === undefined || globs.length === 0 || globs.some(isUniversal);
  return { body, bodyLine, globs: isAlways ? undefined : globs, notes };
}

/** Undefined: they are no patterns. */
function globsIn(paths: unknown): readonly string[] | undefined {
  if (paths === undefined || paths === null) return [];
  if (typeof paths === 'string') return splitPatterns(paths);
  if (!Array.isArray(paths) || !paths.every((one) => typeof one === 'string')) return undefined;
  return paths.map((one) => one.trim()).filter((one) => one !== '');
}
