import { basename } from '../../platform/fs/paths.js';
import { typeProblem } from './names.js';

/**
 * The type that a file which cannot be read would have defined: by the first `name:` that stands in it,
 * else by its own name. fail-closed: so that nothing weaker takes the place of what it was to limit.
 */
export function claimedName(file: string | undefined, text = ''): string | undefined {
  const written = NAME.exec(text.slice(0, MOST_LOOKED_AT))?.[1] ?? '';
  const bare = written.replace(/\s#.*$/, '').trim();
  const name = /^(["'])(.*)\1$/.exec(bare)?.[2] ?? bare;
  const stem = file === undefined ? '' : basename(file).replace(/\.md$/i, '');
  return [name, stem].map((one) => one.normalize('NFC')).find((one) => !typeProblem(one));
}

/** The beginning of a file that is too large to be read. */
export const MOST_LOOKED_AT = 8 * 1024;

const NAME = /^[ \t]*["']?[Nn]ame["']?[ \t]*:[ \t]*([^\r\n]*)/m;
