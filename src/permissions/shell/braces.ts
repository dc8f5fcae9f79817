/**
 * `{a,b}` spelled out, as several languages do. `isCut`: there are too many to spell out, and signs for
 * any text stand for them.
 */
export function withoutBraces(pattern: string): {
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
const MOST_SPELLINGS = 64;
