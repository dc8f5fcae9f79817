import { matches, segmentTokens } from './wildcard.js';

/** Whether a path of git's command line takes a file in; `maybe` where that is not followed here. */
export interface Pathspec {
  readonly excludes: boolean;
  covers(name: string): 'yes' | 'maybe' | 'no';
}

const MAGIC = /^:(?:\(([a-z,]*)\)|([!^/]+):?)(.*)$/s;

/** `prefix` is the way from the root of the working tree to the directory that the command runs in. */
export function parsePathspec(text: string, prefix: string): Pathspec {
  const magic = MAGIC.exec(text);
  const words = magic === null ? [] : wordsOf(magic[1], magic[2]);
  const excludes = words.includes('exclude');
  const isPlain = words.every((word) => word === 'exclude' || word === 'top' || word === '');
  // fail-closed: other magic may take anything in, and leaves nothing out for sure.
  if (!isPlain || (text.startsWith(':') && magic === null)) {
    return { excludes, covers: () => 'maybe' };
  }
  const rest = magic?.[3] ?? text;
  const path = normal(words.includes('top') ? rest : `${prefix}/${rest}`);
  if (path === undefined) return { excludes, covers: () => 'maybe' };
  const isWild = /[*?[\\]/.test(path);
  const tokens = isWild ? segmentTokens(path) : [];
  return {
    excludes,
    covers: (name) => {
      const isIn = path === '' || name === path || name.startsWith(`${path}/`);
      return isIn || (isWild && matches(tokens, name)) ? 'yes' : 'no';
    },
  };
}

/** Which of the files are meant. */
export function within(specs: readonly Pathspec[]): (name: string) => boolean {
  const takes = specs.filter(({ excludes }) => !excludes);
  const leaves = specs.filter(({ excludes }) => excludes);
  return (name) =>
    (takes.length === 0 || takes.some((spec) => spec.covers(name) !== 'no')) &&
    !leaves.some((spec) => spec.covers(name) === 'yes');
}

function wordsOf(long: string | undefined, short: string | undefined): readonly string[] {
  if (long !== undefined) return long.split(',');
  return [...(short ?? '')].map((sign) => (sign === '/' ? 'top' : 'exclude'));
}

/** Without dots; undefined when it leads out of the working tree. */
function normal(path: string): string | undefined {
  const kept: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') kept.push(name);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.join('/');
}
