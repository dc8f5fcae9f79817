import { type Clock, systemClock } from '../../platform/clock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import {
  displayPath,
  isAbsolute,
  isInside,
  join,
  resolve,
  toPosix,
} from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { targetPath } from '../files/file-target.js';
import { failure, failureFrom } from '../output.js';
import type { Tool, ToolContext, ToolOutput, Workspace } from '../tool.js';
import description from './glob.md';
import { namesSegment, parseGlob, type Walk, walk } from './glob-pattern.js';

type GlobInput = ToolInputs['Glob'];

export function globTool(deps: { fs: FileSystem; clock?: Clock }): Tool<GlobInput> {
  const clock = deps.clock ?? systemClock;
  return defineTool({
    name: 'Glob',
    kind: 'read',
    description,
    subject: (input, workspace) => {
      const { root } = searchOf(input, workspace);
      return {
        paths: [{ path: root, access: 'read' }],
        summary: `Glob ${input.pattern} in ${displayPath(root, workspace.cwd)}`,
      };
    },
    concurrencySafe: () => true,
    run: (input, context) => glob({ fs: deps.fs, clock }, input, context).catch(failureFrom),
  });
}

const SHOWN_FILES = 100;
const DEADLINE_MS = 20_000;
/** Searched only when the pattern or the path names them. */
const SKIPPED = ['.git', 'node_modules'];

async function glob(
  deps: { fs: FileSystem; clock: Clock },
  input: GlobInput,
  context: Pick<ToolContext, 'workspace' | 'signal' | 'hiding'>,
): Promise<ToolOutput> {
  const { fs, clock } = deps;
  const started = clock.monotonic();
  const asked = searchOf(input, context.workspace);
  const { root, pattern } = asked;
  const refusal = await whyNot(fs, asked);
  if (refusal !== undefined) return failure(refusal);
  const inRoot = toPosix(root).split('/');
  const limits: Walk = {
    root,
    skip: new Set(SKIPPED.filter((name) => !namesSegment(pattern, name) && !inRoot.includes(name))),
    isOver: () => context.signal.aborted || clock.monotonic() - started > DEADLINE_MS,
  };
  const isHidden = context.hiding?.();
  const search = async (wanted: string) => {
    const { paths, timedOut } = await walk(fs, parseGlob(wanted), limits);
    context.signal.throwIfAborted();
    const shown = await shownOf(paths, isHidden, limits);
    context.signal.throwIfAborted();
    return { paths: shown, timedOut: timedOut || limits.isOver() };
  };
  let found = await search(pattern);
  let deeper = false;
  if (found.paths.length === 0 && !pattern.includes('/') && !found.timedOut) {
    found = await search(`**/${pattern}`);
    deeper = found.paths.length > 0;
  }
  const newest = await newestFirst(fs, found.paths, limits);
  context.signal.throwIfAborted();
  const timedOut = found.timedOut || limits.isOver();
  const filenames = newest.slice(0, SHOWN_FILES);
  const truncated = newest.length > SHOWN_FILES;
  const shown = filenames.map((path) => displayPath(path, context.workspace.cwd));
  const notes = [
    ...(deeper ? [`[None at the top level; these match **/${pattern}.]`] : []),
    ...(truncated
      ? [`[The ${SHOWN_FILES} newest of ${newest.length} files. Use a narrower pattern or path.]`]
      : []),
    ...(timedOut ? ['[Stopped after 20 s; there may be more. Use a narrower path.]'] : []),
  ];
  return {
    content: [...(shown.length === 0 ? ['No files found.'] : shown), ...notes].join('\n'),
    structured: {
      durationMs: Math.round(clock.monotonic() - started),
      numFiles: filenames.length,
      filenames,
      truncated,
      totalMatches: newest.length,
      countIsComplete: !timedOut,
      ...(timedOut ? { timedOut: true } : {}),
    },
  };
}

/**
 * The files that may be shown. A name alone tells something too: the answer is the same whether files
 * that may not be read match or not, so nothing says that there were any.
 */
async function shownOf(
  all: readonly string[],
  isHidden: ((path: string) => Promise<boolean>) | undefined,
  { isOver }: Pick<Walk, 'isOver'>,
): Promise<readonly string[]> {
  if (isHidden === undefined) return all;
  const shown: string[] = [];
  for (const path of all) {
    if (isOver()) break;
    if (!(await isHidden(path))) shown.push(path);
  }
  return shown;
}

interface Search {
  readonly root: string;
  /** Relative to the root, with forward slashes. */
  readonly pattern: string;
  /** The path in the input, which an absolute pattern must stay inside. */
  readonly given: string | undefined;
}

/** Where to search: an absolute pattern brings its own root, unless a path is given too. */
function searchOf(input: GlobInput, workspace: Workspace): Search {
  const pattern = toPosix(input.pattern.trim());
  const given = input.path === undefined ? undefined : targetPath(input.path, workspace);
  if (!isAbsolute(pattern)) return { root: given ?? workspace.cwd, pattern, given };
  const segments = pattern.split('/');
  const firstWild = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  const plain = firstWild === -1 ? segments.length - 1 : firstWild;
  const base = resolve(`${segments.slice(0, plain).join('/')}/`);
  return { root: base, pattern: segments.slice(plain).join('/'), given };
}

async function whyNot(fs: FileSystem, search: Search): Promise<string | undefined> {
  if (search.pattern === '') return 'The pattern is empty. Use **/* for all files.';
  if (search.pattern.split('/').includes('..')) {
    return 'A pattern cannot lead out of its directory with "..". Set path instead.';
  }
  if (search.given !== undefined && !isInside(search.root, search.given)) {
    return `The absolute pattern is not inside path ${search.given}. Leave path out.`;
  }
  const stat = await fs.stat(search.root);
  if (stat === undefined) return `The directory ${search.root} does not exist.`;
  if (stat.kind !== 'directory') return `${search.root} is not a directory.`;
  return leavingLink(fs, search);
}

/** fail-closed: leave was given for the root, so a link in the pattern may not lead out of it. */
async function leavingLink(fs: FileSystem, search: Search): Promise<string | undefined> {
  const root = await fs.realPath(search.root);
  for (const { base } of parseGlob(search.pattern)) {
    if (base.length === 0) continue;
    const start = join(search.root, ...base);
    if (!isInside(await fs.realPath(start), root)) {
      return `${start} is a link that leads out of ${search.root}. Set path to where it leads.`;
    }
  }
  return undefined;
}

async function newestFirst(
  fs: FileSystem,
  paths: readonly string[],
  { isOver }: Pick<Walk, 'isOver'>,
): Promise<string[]> {
  const dated: { path: string; time: number }[] = [];
  for (const path of paths) {
    if (isOver()) break;
    // What vanished meanwhile is no match any more; a link to a directory or to nothing is no file.
    const stat = await fs.stat(path);
    if (stat !== undefined && stat.kind !== 'directory') dated.push({ path, time: stat.mtimeMs });
  }
  return dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map((f) => f.path);
}
