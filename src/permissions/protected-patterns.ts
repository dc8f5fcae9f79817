import { PROTECTED_NAMES } from './protected-paths.js';
import { matches, segmentTokens } from './wildcard.js';

const WILD = /[*?[]/;
const MOST_SPELLINGS = 64;

/**
 * Protected paths that a pattern of names may stand for. As nearly everywhere a wildcard in front
 * stands for no hidden name. `isGlob`: it surely is a pattern of files; `.*` is mostly something else.
 */
export function protectedFitting(
  pattern: string,
  { isGlob }: { readonly isGlob: boolean },
): readonly string[] {
  return withoutBraces(pattern).flatMap((text) => {
    const segments = text.toLowerCase().split('/');
    if (!WILD.test(text)) return text === pattern ? [] : [text];
    return segments.flatMap((segment, at) => {
      if (!WILD.test(segment)) return [];
      const before = segments.slice(0, at);
      const isTelling = /^\.?[a-z]/.test(segment) || isGlob;
      const names = isTelling ? namesFitting(segment, before.at(-1)) : [];
      const behind = segments.slice(at + 1);
      return [
        ...(at === 0 ? [] : [before.join('/')]),
        ...names.flatMap((name) => [
          [...before, name].join('/'),
          [...before, name, ...behind].join('/'),
        ]),
      ];
    });
  });
}

function namesFitting(segment: string, above: string | undefined): readonly string[] {
  if (WILD.test(segment.charAt(0))) return [];
  const { directories, files, configured } = PROTECTED_NAMES;
  const tokens = segmentTokens(segment);
  const all = [
    ...directories.all,
    ...files.all,
    '.config',
    ...(above === '.config' ? configured.all : []),
  ];
  return all.filter((name) => matches(tokens, name));
}

/** `{a,b}` spelled out, as several languages do. */
function withoutBraces(pattern: string): readonly string[] {
  let texts: readonly string[] = [pattern];
  for (let round = 0; round < 4; round++) {
    texts = texts.flatMap((text) => {
      const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(text);
      if (found === null) return [text];
      const [, before = '', inner = '', behind = ''] = found;
      return inner.split(',').map((one) => before + one + behind);
    });
    // fail-closed: of more than these the first tell enough.
    if (texts.length > MOST_SPELLINGS) return texts.slice(0, MOST_SPELLINGS);
  }
  return texts;
}
