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
  keyword: 'magenta',
  built_in: 'cyan',
  type: 'cyan',
  literal: 'yellow',
  number: 'yellow',
  string: 'green',
  regexp: 'green',
  comment: '2',
  doctag: '2',
  meta: '2',
  title: 'blue',
  section: '1;blue',
  attr: 'cyan',
  attribute: 'cyan',
  name: 'blue',
  'selector-tag': 'blue',
  addition: 'green',
  deletion: 'red',
  variable: 'cyan',
  property: 'cyan',
  symbol: 'yellow',
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
