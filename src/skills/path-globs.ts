/**
 * The `paths` of a skill, read as a `.gitignore`: a name without a slash fits at any depth, `*` stays
 * within a name, `**` does not, what fits a directory fits all that is in it, and a later `!pattern`
 * takes out again. Takes time in proportion to pattern and path, whatever the pattern.
 */
export function fitsPaths(globs: readonly string[], path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  let fits = false;
  for (const glob of globs) {
    const isExcept = glob.startsWith('!');
    const patterns = alternatives(isExcept ? glob.slice(1) : glob);
    if (patterns.some((pattern) => fitsOne(pattern, names))) fits = !isExcept;
  }
  return fits;
}

function fitsOne(pattern: string, names: readonly string[]): boolean {
  const isAnchored = /^\.?\//.test(pattern) || /[^/]\/+[^/]/.test(pattern);
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) return false;
  const wanted = isAnchored ? parts : ['**', ...parts];
  // What fits a directory fits its content: the end of the path is free.
  return walk([...wanted, '**'], names, (part, name) => fitsName(part, name), '**');
}

function fitsName(part: string, name: string): boolean {
  return walk([...part], [...name], (char, other) => char === '?' || char === other, '*');
}

/** Only the last wildcard ever gives something back, which is enough. */
function walk(
  pattern: readonly string[],
  items: readonly string[],
  fits: (part: string, item: string) => boolean,
  wild: string,
): boolean {
  let at = 0;
  let item = 0;
  let last = -1;
  let resume = 0;
  while (item < items.length) {
    const part = pattern[at];
    if (part === wild) {
      last = at++;
      resume = item;
    } else if (part !== undefined && fits(part, items[item] ?? '')) {
      at++;
      item++;
    } else if (last !== -1) {
      at = last + 1;
      item = ++resume;
    } else return false;
  }
  while (pattern[at] === wild) at++;
  return at === pattern.length;
}

const MOST_ALTERNATIVES = 64;

/** `*.{ts,tsx}` is two patterns. Braces within braces, and too many, stand for themselves. */
function alternatives(pattern: string): readonly string[] {
  let open = [pattern];
  for (let round = 0; round < 8; round++) {
    const next = open.flatMap((one) => {
      const found = /^([^{]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(one);
      const [, before = '', inside = '', after = ''] = found ?? [];
      return found === null ? [one] : inside.split(',').map((word) => before + word + after);
    });
    if (next.length === open.length || next.length > MOST_ALTERNATIVES) return open;
    open = next;
  }
  return open;
}
