import type { FileSystem } from '../../platform/fs/fs.js';
import { displayPath, resolve, toPosix } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';

export interface GrepReport {
  readonly text: string;
  readonly notes: readonly string[];
  readonly structured: Readonly<Record<string, unknown>>;
}

const DEFAULT_LIMIT = 250;
const NOTHING = 'No matches found.';

interface Found {
  readonly input: ToolInputs['Grep'];
  /** The directory that ripgrep's paths are relative to. */
  readonly searched: string;
  /** The directory that the shown paths are relative to, where they are inside. */
  readonly cwd: string;
  /** What ripgrep printed, with a NUL after each path. */
  readonly output: string;
  /** The output ends anywhere; its last piece is dropped. */
  readonly isCut: boolean;
}

export async function grepReport(fs: FileSystem, found: Found): Promise<GrepReport> {
  switch (found.input.output_mode) {
    case 'content':
      return contentReport(found);
    case 'count':
      return countReport(found);
    default:
      return filesReport(fs, found);
  }
}

/** One page of a list, and the note and fields that say so. */
function pageOf<T>(all: readonly T[], input: ToolInputs['Grep']) {
  const offset = input.offset ?? 0;
  const limit = input.head_limit ?? DEFAULT_LIMIT;
  const end = limit === 0 ? all.length : Math.min(all.length, offset + limit);
  const isCut = end < all.length;
  return {
    items: all.slice(offset, end),
    notes: isCut
      ? [`Results ${offset + 1}-${end} of ${all.length}. Go on with offset=${end}, or narrow it.`]
      : [],
    applied: {
      appliedLimit: isCut ? limit : undefined,
      appliedOffset: offset > 0 ? offset : undefined,
    },
  };
}

async function filesReport(fs: FileSystem, found: Found): Promise<GrepReport> {
  const paths = found.output.split('\0');
  // Empty, or cut.
  paths.pop();
  const dated: { path: string; time: number }[] = [];
  for (const path of paths) {
    const stat = await fs.stat(resolve(found.searched, path));
    dated.push({ path: shownPath(path, found), time: stat?.mtimeMs ?? 0 });
  }
  dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1));
  const sorted = dated.map((file) => file.path);
  const page = pageOf(sorted, found.input);
  return {
    text: page.items.length === 0 ? NOTHING : page.items.join('\n'),
    notes: page.notes,
    structured: {
      mode: 'files_with_matches',
      numFiles: page.items.length,
      filenames: page.items,
      totalFiles: paths.length,
      ...page.applied,
    },
  };
}

function contentReport(found: Found): GrepReport {
  const byFile = new Map<string, string[]>();
  let separator: string[] = [];
  let betweenFiles: readonly string[] = [];
  for (const line of linesOf(found)) {
    const [path, rest] = splitPath(line, found);
    if (path === undefined) {
      separator = [line];
      continue;
    }
    const own = byFile.get(path) ?? [];
    if (byFile.has(path)) own.push(...separator);
    else if (byFile.size > 0) betweenFiles = separator;
    byFile.set(path, own);
    separator = [];
    // Context lines carry a dash after their number, and then one before it.
    const mark = /^\d+-/.test(rest) && found.input['-n'] !== false ? '-' : ':';
    own.push(`${path}${mark}${rest}`);
  }
  // Ripgrep prints the files as its threads come to an end; pages need one order.
  const files = [...byFile.keys()].sort();
  const lines = files.flatMap((path, index) => [
    ...(index === 0 ? [] : betweenFiles),
    ...(byFile.get(path) ?? []),
  ]);
  const page = pageOf(lines, found.input);
  const content = page.items.join('\n');
  return {
    text: page.items.length === 0 ? NOTHING : content,
    notes: page.notes,
    structured: {
      mode: 'content',
      numFiles: files.length,
      filenames: files,
      content,
      numLines: page.items.length,
      totalLines: lines.length,
      ...page.applied,
    },
  };
}

function countReport(found: Found): GrepReport {
  const counts = linesOf(found).map((line) => {
    const [path, rest] = splitPath(line, found);
    return { path: path ?? line, count: Number(rest) };
  });
  // Ripgrep prints them as its threads come to an end.
  counts.sort((one, other) => (one.path < other.path ? -1 : 1));
  const page = pageOf(counts, found.input);
  const content = page.items.map(({ path, count }) => `${path}:${count}`).join('\n');
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return {
    text: counts.length === 0 ? NOTHING : content,
    notes: [
      ...(counts.length > 1 ? [`${total} matching lines in ${counts.length} files.`] : []),
      ...page.notes,
    ],
    structured: {
      mode: 'count',
      numFiles: page.items.length,
      filenames: page.items.map(({ path }) => path),
      content,
      numMatches: total,
      totalFiles: counts.length,
      ...page.applied,
    },
  };
}

function linesOf({ output, isCut }: Found): string[] {
  const lines = output.split('\n');
  if (isCut || lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** The path is undefined for the `--` between groups. */
function splitPath(line: string, found: Found): [path: string | undefined, rest: string] {
  const at = line.indexOf('\0');
  return at === -1 ? [undefined, line] : [shownPath(line.slice(0, at), found), line.slice(at + 1)];
}

function shownPath(path: string, found: Found): string {
  return displayPath(resolve(found.searched, path), found.cwd);
}

/** A line longer than this is shown in part: minified files would fill the window. */
const LINE_COLUMNS = 500;

/** Which files ripgrep searches. Nothing in the input can become an option. */
export function fileArguments(input: ToolInputs['Grep'], path: string): string[] {
  const inGit = toPosix(path).split('/').includes('.git');
  return [
    '--hidden',
    '--no-follow',
    '--null',
    ...(input.type === undefined ? [] : [`--type=${input.type}`]),
    ...globsOf(input.glob).map((glob) => `--glob=${glob}`),
    ...(inGit ? [] : ['--glob=!.git']),
  ];
}

/** What ripgrep looks for in them, and how it prints that. */
export function searchArguments(input: ToolInputs['Grep']): string[] {
  return [
    '--no-heading',
    '--with-filename',
    '--engine=auto',
    ...(input['-i'] ? ['--ignore-case'] : []),
    ...(input.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...modeArguments(input, input.output_mode ?? 'files_with_matches'),
    `--regexp=${input.pattern}`,
  ];
}

function modeArguments(
  input: ToolInputs['Grep'],
  mode: 'content' | 'files_with_matches' | 'count',
): string[] {
  if (mode === 'files_with_matches') return ['--files-with-matches'];
  if (mode === 'count') return ['--count'];
  const around = input['-C'] ?? input.context;
  return [
    `--max-columns=${LINE_COLUMNS}`,
    '--max-columns-preview',
    input['-n'] === false ? '--no-line-number' : '--line-number',
    ...(input['-o'] ? ['--only-matching'] : []),
    ...(around === undefined ? [] : [`--context=${around}`]),
    ...(input['-A'] === undefined ? [] : [`--after-context=${input['-A']}`]),
    ...(input['-B'] === undefined ? [] : [`--before-context=${input['-B']}`]),
  ];
}

/** Several patterns may stand in one string, apart by spaces or by commas outside braces. */
export function globsOf(globs: string | undefined): string[] {
  const found: string[] = [];
  let current = '';
  let depth = 0;
  for (const char of globs ?? '') {
    if (char === '{') depth++;
    if (char === '}') depth--;
    const ends = depth <= 0 && (char === ',' || /\s/.test(char));
    if (!ends) current += char;
    else if (current !== '') {
      found.push(current);
      current = '';
    }
  }
  return current === '' ? found : [...found, current];
}
