import { systemCodeOf } from '../../errors.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { resolve } from '../../platform/fs/paths.js';
import { Budget, TooComplexError } from '../gate/budget.js';
import { matches, segmentTokens } from '../rules/wildcard.js';

const MOST_FILES = 500;
/** Listing a directory takes as long as so many steps of our own. */
const STEPS_OF_LISTING = 100;

interface PatternPlace {
  readonly directory: string;
  readonly pattern: string;
  readonly budget?: Budget | undefined;
}

type PatternFiles = Pick<FileSystem, 'list' | 'lstat'>;

/**
 * The files that a shell's pattern fits now, as it would put them in its place. Undefined when that
 * cannot be said.
 */
export async function filesFitting(
  fs: PatternFiles,
  { directory, pattern, budget = new Budget() }: PatternPlace,
): Promise<readonly string[] | undefined> {
  budget.spend(1 + pattern.length);
  const segments = pattern.split('/').filter((segment, at) => segment !== '' || at === 0);
  const isAbsolute = segments[0] === '' && segments.shift() !== undefined;
  // `[[:alpha:]]`, `[[=a=]]`, `[[.a.]]` depend on the locale, `**` on an option of the shell; behind a
  // link `..` is somewhere else.
  if (/\[[:=.]|\*\*/.test(pattern) || segments.map(unescaped).includes('..')) return undefined;
  try {
    let places: readonly string[] = [isAbsolute ? '/' : directory];
    let isGuessed = false;
    for (const [at, segment] of segments.entries()) {
      if (!isPattern(segment)) {
        places = places.map((place) => resolve(place, unescaped(segment)));
        continue;
      }
      const found = await fittingIn(fs, places, {
        segment,
        isLast: at === segments.length - 1,
        budget,
      });
      if (found === undefined) return undefined;
      places = found;
      isGuessed = at < segments.length - 1;
    }
    const found = isGuessed ? await thereAmong(fs, places) : places;
    // A pattern that fits nothing is passed on as it is, and may be the name of a file.
    const itself = segments.map(unescaped).join('/');
    return found.length > 0 ? found : [resolve(isAbsolute ? '/' : directory, itself)];
  } catch (thrown) {
    if (thrown instanceof TooComplexError) throw thrown;
    // fail-closed: what cannot be listed is not known.
    return undefined;
  }
}

function unescaped(segment: string): string {
  return segment.replace(/\\(.)/gs, '$1');
}

function isPattern(segment: string): boolean {
  return /(^|[^\\])[*?[]/.test(segment);
}

interface Segment {
  readonly segment: string;
  readonly isLast: boolean;
  readonly budget: Budget;
}

async function fittingIn(
  fs: PatternFiles,
  places: readonly string[],
  { segment, isLast, budget }: Segment,
): Promise<readonly string[] | undefined> {
  const tokens = segmentTokens(segment);
  const takesDots = /^\\?\./.test(segment);
  // fail-closed: some shells put the directory itself and the one above it here, others do not.
  if (takesDots && (matches(tokens, '.') || matches(tokens, '..'))) return undefined;
  const found: string[] = [];
  for (const place of places) {
    const entries = await entriesOf(fs, place, places.length === 1);
    budget.spend(STEPS_OF_LISTING + entries.length * tokens.length);
    for (const { name, kind } of entries) {
      // How many characters a name has depends on the locale too.
      if (!matches(tokens, name) && !/[^\x20-\x7e]/.test(name)) continue;
      if (name.startsWith('.') && !takesDots) continue;
      if (isLast || kind === 'directory' || kind === 'symlink') found.push(resolve(place, name));
      if (found.length > MOST_FILES) return undefined;
    }
  }
  return found;
}

/** Among several some may be links to files, which hold nothing; the only one is there, or nobody knows. */
async function entriesOf(fs: PatternFiles, place: string, isOnly: boolean) {
  try {
    return await fs.list(place);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (!isOnly && (code === 'ENOTDIR' || code === 'ENOENT')) return [];
    throw thrown;
  }
}

async function thereAmong(fs: PatternFiles, places: readonly string[]): Promise<readonly string[]> {
  const there: string[] = [];
  for (const place of places) {
    try {
      if ((await fs.lstat(place)) !== undefined) there.push(place);
    } catch {
      // fail-closed: what cannot be looked at may be there.
      there.push(place);
    }
  }
  return there;
}
