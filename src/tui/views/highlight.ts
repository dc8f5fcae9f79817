import { type Line, lines, type Span } from '../screen/line.js';

interface Highlighter {
  getLanguage(name: string): unknown;
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { readonly value: string };
}

const state: { loaded?: Highlighter } = {};

/** Loads the highlighter; until it is there code is shown plain. */
export async function loadHighlighter(): Promise<void> {
  state.loaded ??= (await import('highlight.js/lib/common')).default;
}

const CLASS_STYLES: Readonly<Record<string, string>> = {
  keyword: '35',
  built_in: '36',
  type: '36',
  literal: '33',
  number: '33',
  string: '32',
  regexp: '32',
  comment: '2',
  doctag: '2',
  meta: '2',
  title: '34',
  section: '1;34',
  attr: '36',
  attribute: '36',
  name: '34',
  'selector-tag': '34',
  addition: '32',
  deletion: '31',
  variable: '36',
  property: '36',
  symbol: '33',
};
const LONGEST_CODE = 60_000;

/** Code by lines, coloured where the highlighter knows the language. The code holds no control characters. */
export function highlight(code: string, language: string | undefined): Line[] {
  const { loaded } = state;
  if (
    loaded === undefined ||
    language === undefined ||
    language === '' ||
    code.length > LONGEST_CODE
  ) {
    return lines(code);
  }
  const name = language.toLowerCase();
  if (loaded.getLanguage(name) === undefined) return lines(code);
  return fromHtml(loaded.highlight(code, { language: name, ignoreIllegals: true }).value);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
};

/** highlight.js answers with spans of one class each, and five entities. */
function fromHtml(html: string): Line[] {
  const rows: Span[][] = [[]];
  const styles: (string | undefined)[] = [];
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (part === '</span>') {
      styles.pop();
    } else if (part.startsWith('<span')) {
      const [, name = ''] = /hljs-([\w-]+)/.exec(part) ?? [];
      styles.push(CLASS_STYLES[name] ?? styles.at(-1));
    } else {
      const text = part.replace(
        /&(amp|lt|gt|quot|#x27);/g,
        (_, entity: string) => ENTITIES[entity] ?? '',
      );
      text.split('\n').forEach((piece, index) => {
        if (index > 0) rows.push([]);
        if (piece !== '') rows.at(-1)?.push({ text: piece, style: styles.at(-1) });
      });
    }
  }
  return rows;
}
