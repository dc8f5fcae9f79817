export type HtmlToken =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'open'; readonly name: string; readonly attributes: string }
  | { readonly type: 'close'; readonly name: string };

/** Elements whose content is not markup; it runs to their end tag or the end of the page. */
const RAW_TEXT = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
]);

/**
 * Cuts HTML into tags and text in one pass, in time linear in its length whatever it holds: every
 * search that finds no end takes the rest of the page with it, as browsers do.
 */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  let position = 0;
  while (position < html.length) {
    const start = html.indexOf('<', position);
    if (start === -1) return yield { type: 'text', text: html.slice(position) };
    if (start > position) yield { type: 'text', text: html.slice(position, start) };
    const next = html[start + 1] ?? '';
    if (/[a-z]/i.test(next) || (next === '/' && /[a-z]/i.test(html[start + 2] ?? ''))) {
      const end = tagEnd(html, start + 1);
      const token = tagOf(html.slice(start + 1, end));
      position = end + 1;
      yield token;
      if (token.type === 'open' && RAW_TEXT.has(token.name)) {
        const close = closeOf(html, token.name, position);
        yield { type: 'text', text: html.slice(position, close) };
        position = close;
      }
    } else if (next === '!' || next === '?' || next === '/') {
      position = skipDeclaration(html, start);
    } else {
      position = start + 1;
      while (html[position] === '<' && html[position + 1] === '<') position++;
      yield { type: 'text', text: '&lt;'.repeat(position - start) };
    }
  }
  return undefined;
}

/** The value of an attribute with its entities decoded; undefined when it is not there. */
export function attribute(attributes: string, name: string): string | undefined {
  const pattern = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
  for (const match of attributes.slice(0, 20_000).matchAll(pattern)) {
    if (match[1]?.toLowerCase() !== name) continue;
    return decodeEntities(match[2] ?? match[3] ?? match[4] ?? '');
  }
  return undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  copy: '©',
};

export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi,
    (whole, hex, dec, name) => {
      if (name !== undefined) {
        const lower = String(name).toLowerCase();
        return Object.hasOwn(ENTITIES, lower) ? (ENTITIES[lower] ?? whole) : whole;
      }
      const code = hex === undefined ? Number(dec) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}

/** Position of the `>` that ends a tag; one inside a quoted value does not count. */
function tagEnd(html: string, from: number): number {
  let quote = '';
  for (let index = from; index < html.length; index++) {
    const char = html[index] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '>') {
      return index;
    } else if ((char === '"' || char === "'") && /[=\s]/.test(html[index - 1] ?? '')) {
      quote = char;
    }
  }
  return html.length;
}

function tagOf(inside: string): HtmlToken {
  const close = inside.startsWith('/');
  const name = /^[a-z][^\s/>]*/i.exec(close ? inside.slice(1, 40) : inside.slice(0, 40))?.[0] ?? '';
  const lower = name.toLowerCase();
  if (close) return { type: 'close', name: lower };
  return { type: 'open', name: lower, attributes: inside.slice(name.length) };
}

function closeOf(html: string, name: string, from: number): number {
  const pattern = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? html.length;
}

function skipDeclaration(html: string, start: number): number {
  const [end, length] = html.startsWith('<!--', start) ? ['-->', 3] : ['>', 1];
  const found = html.indexOf(end, start + 2);
  return found === -1 ? html.length : found + length;
}
