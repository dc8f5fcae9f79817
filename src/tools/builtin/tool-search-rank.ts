import type { AnyTool } from '../tool.js';

/** What a word is worth where it is found. */
const WORTH = {
  wholeName: 40,
  nameWord: 12,
  namePart: 6,
  titleWord: 6,
  server: 4,
  descriptionWord: 3,
  descriptionPart: 1,
} as const;

/** The tools that fit, best first. `+word` must occur; of the other words, one must. */
export function rankTools(tools: readonly AnyTool[], query: string): readonly AnyTool[] {
  const words = query
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const required = words.filter((word) => word.startsWith('+')).map((word) => word.slice(1));
  const wanted = [...required, ...words.filter((word) => !word.startsWith('+'))];
  if (wanted.length === 0) return [];
  const ranked = tools.flatMap((tool) => {
    const text = textOf(tool);
    if (required.some((word) => worthOf(word, text) === 0)) return [];
    const score = wanted.reduce((sum, word) => sum + worthOf(word, text), 0);
    return score === 0 ? [] : [{ tool, score }];
  });
  // Where two fit as well, the order of names decides, so that the same query loads the same tools.
  ranked.sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  return ranked.map(({ tool }) => tool);
}

interface Searched {
  readonly fullName: string;
  readonly name: string;
  readonly nameWords: ReadonlySet<string>;
  readonly server: string;
  readonly titleWords: ReadonlySet<string>;
  readonly description: string;
  readonly descriptionWords: ReadonlySet<string>;
}

function textOf({ name, title, origin, definition }: AnyTool): Searched {
  const description = definition.description.toLowerCase();
  const own = origin?.tool ?? name;
  return {
    fullName: name.toLowerCase(),
    name: own.toLowerCase(),
    nameWords: wordsOf(own),
    server: origin?.server.toLowerCase() ?? '',
    titleWords: wordsOf(title ?? ''),
    description,
    descriptionWords: wordsOf(description),
  };
}

/** `getUserName`, `get_user_name` and `get-user-name` have the same words. */
function wordsOf(text: string): ReadonlySet<string> {
  const parts = text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return new Set(parts.filter((part) => part !== ''));
}

function worthOf(word: string, text: Searched): number {
  let worth = 0;
  if (word === text.fullName || word === text.name) worth += WORTH.wholeName;
  if (text.nameWords.has(word)) worth += WORTH.nameWord;
  else if (text.name.includes(word)) worth += WORTH.namePart;
  if (text.titleWords.has(word)) worth += WORTH.titleWord;
  if (text.server.includes(word)) worth += WORTH.server;
  if (text.descriptionWords.has(word)) worth += WORTH.descriptionWord;
  else if (text.description.includes(word)) worth += WORTH.descriptionPart;
  return worth;
}
