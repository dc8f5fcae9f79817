import { PROTECTED_NAMES } from './protected-paths.js';
import { matches, segmentTokens } from './wildcard.js';

const WILD = /[*?[]/;
const MOST_SPELLINGS = 64;
const MOST_SEGMENTS = 64;

/**
 * Protected paths that a pattern of names may stand for. As nearly everywhere a wildcard in front
 * stands for no hidden name. `isGlob`: it surely is a pattern of files; `.*` is mostly something else.
 */
export function protectedFitting(
  pattern: string,
  { isGlob }: { readonly isGlob: boolean },
): readonly string[] {
  const { texts, isCut } = withoutBraces(pattern);
  return texts.flatMap((text) => {
    const segments = text.toLowerCase().split('/');
    if (!WILD.test(text)) return text === pattern ? [] : [text];
    // fail-closed: among so many directories may be any.
    if (segments.length > MOST_SEGMENTS) return ['.git'];
    return segments.flatMap((segment, at) => {
      if (!WILD.test(segment)) return [];
      const before = segments.slice(0, at);
      const isTelling = /^\.?[a-z]/.test(segment) || isGlob || isCut;
      const names = isTelling ? namesFitting(segment, before.at(-1), isCut && isGlob) : [];
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

/** `isAny`: what stands in front may be a dot as well. */
function namesFitting(
  segment: string,
  above: string | undefined,
  isAny: boolean,
): readonly string[] {
  if (WILD.test(segment.charAt(0)) && !isAny) return [];
  const { directories, files, configured } = PROTECTED_NAMES;
  const tokens = segmentTokens(segment);
  const all = [...directories, ...files, '.config', ...(above === '.config' ? configured : [])];
  return all.filter((name) => matches(tokens, name));
}

/**
 * `{a,b}` spelled out, as several languages do. `isCut`: there are too many to spell out, and signs for
 * any text stand for them.
 */
function withoutBraces(pattern: string): {
  readonly texts: readonly string[];
  readonly isCut: boolean;
} {
  let texts: readonly string[] = [pattern];
  for (let round = 0; round < MOST_ROUNDS && texts.some((text) => GROUP.test(text)); round++) {
    texts = texts.flatMap((text) => {
      const [, before = '', inner, behind = ''] = GROUP.exec(text) ?? [];
      return inner?.split(',').map((one) => before + one + behind) ?? [text];
    });
    if (texts.length > MOST_SPELLINGS) break;
  }
  const isCut = texts.length > MOST_SPELLINGS || texts.some((text) => GROUP.test(text));
  if (!isCut) return { texts, isCut };
  let any = pattern;
  while (GROUP.test(any)) any = any.replace(GROUPS, '*');
  // fail-closed: any text may be one of those, and each of their words may be a name.
  return { texts: [any, ...pattern.split(/[{},]/)], isCut };
}

const GROUP = /^(.*?)\{([^{}]*)\}(.*)$/s;
const GROUPS = /\{[^{}]*\}/g;
const MOST_ROUNDS = 4;
