import { parseUrl } from '../../lib/parse-url.js';
import { attribute, decodeEntities, htmlTokens } from './html-tokens.js';

/** Deeper nesting than this carries no meaning for a reader; tags beyond it are dropped, text stays. */
const MAX_DEPTH = 48;
/** Bounds the work of everything that walks the result. After it only text is kept. */
const MAX_ELEMENTS = 20_000;

export interface CleanPage {
  /** Small, balanced HTML: known elements, needed attributes, absolute links. */
  readonly html: string;
  readonly title: string | undefined;
  /** The page has more elements than are kept: its end is text without form. */
  readonly simplified: boolean;
}

export interface CleanOptions {
  /** Links are made absolute against it. */
  readonly baseUrl?: string | undefined;
  /** Keep navigation and controls, for pages that consist of nothing else. */
  readonly keepNoise?: boolean;
}

/**
 * Reduces a page to what Markdown can say. The result nests properly and to a bounded depth, so that
 * no parser after it meets the inputs that make parsers slow.
 */
export function cleanHtml(html: string, options: CleanOptions = {}): CleanPage {
  const writer = new PageWriter(layoutTables(html), options);
  for (const token of htmlTokens(html)) {
    if (token.type === 'text') writer.text(token.text);
    else if (token.type === 'open') writer.open(token.name, token.attributes);
    else writer.close(token.name);
  }
  return writer.finish();
}

/** The text of cleaned HTML, a line for each block. */
export function textOf(cleaned: string): string {
  const lines = cleaned.replace(
    /<\/?(?:p|div|h\d|ul|ol|li|table|tr|pre|blockquote|[hb]r)\b[^>]*>/g,
    '\n',
  );
  return decodeEntities(lines.replace(/<\/t[dh]>/g, ' | ').replace(/<[^>]*>/g, ''));
}

/** Tables that hold tables or code lay out the page and hold no data: by order of appearance. */
function layoutTables(html: string): ReadonlySet<number> {
  const layout = new Set<number>();
  const open: number[] = [];
  let count = 0;
  for (const token of htmlTokens(html)) {
    if (token.type === 'open' && (token.name === 'table' || token.name === 'pre')) {
      const outer = open.at(-1);
      if (outer !== undefined) layout.add(outer);
      if (token.name === 'table') open.push(count++);
    } else if (token.type === 'close' && token.name === 'table') open.pop();
  }
  return layout;
}

const words = (text: string): string[] => text.split(' ');

const NEVER = new Set(
  words('script style template svg math iframe object canvas audio video noembed noframes'),
);
const NOISE = new Set(words('nav button select dialog noscript textarea'));

const KEPT = 'p h1 h2 h3 h4 h5 h6 ul ol li blockquote table tr td th a code strong em';
const BLOCKS =
  'div section article main header footer aside figure figcaption address details summary ' +
  'fieldset form nav dl dt dd caption center body legend';

/** What an element becomes. Elements that are not listed leave only their text. */
const BECOMES: ReadonlyMap<string, string> = new Map([
  ...words(KEPT).map((name): [string, string] => [name, name]),
  ...words(BLOCKS).map((name): [string, string] => [name, 'div']),
  ['b', 'strong'],
  ['i', 'em'],
  ['kbd', 'code'],
  ['samp', 'code'],
  ['tt', 'code'],
]);
const INLINE = new Set(['a', 'code', 'strong', 'em']);

/** An open element that a new one of the same group ends, and what the search for it does not cross. */
const ENDED_BY_SIBLING: ReadonlyMap<
  string,
  { ends: readonly string[]; within: readonly string[] }
> = new Map([
  ['li', { ends: ['li'], within: ['ul', 'ol', 'table'] }],
  ['dt', { ends: ['dt', 'dd'], within: ['dl', 'table'] }],
  ['dd', { ends: ['dt', 'dd'], within: ['dl', 'table'] }],
  ['tr', { ends: ['tr'], within: ['table'] }],
  ['td', { ends: ['td', 'th'], within: ['tr', 'table'] }],
  ['th', { ends: ['td', 'th'], within: ['tr', 'table'] }],
  ['a', { ends: ['a'], within: ['td', 'th', 'li'] }],
]);

class PageWriter {
  readonly #layout: ReadonlySet<number>;
  readonly #keepNoise: boolean;
  #base: string | undefined;
  readonly #out: string[] = [];
  readonly #stack: { readonly name: string; readonly as: string }[] = [];
  #elements = 0;
  #tables = 0;
  #title: string | undefined;
  #inTitle = false;
  /** The element being left out with all it holds, and how deep it is nested in itself. */
  #skipped: { readonly name: string; depth: number } | undefined;
  #code: { text: string; language: string } | undefined;

  constructor(layout: ReadonlySet<number>, options: CleanOptions) {
    this.#layout = layout;
    this.#base = options.baseUrl;
    this.#keepNoise = options.keepNoise === true;
  }

  text(text: string): void {
    if (this.#skipped !== undefined) return;
    if (this.#inTitle) {
      this.#title ??= decodeEntities(text.slice(0, 1000)).replace(/\s+/g, ' ').trim().slice(0, 300);
    } else if (this.#code !== undefined) this.#code.text += text;
    else {
      const collapsed = text.replace(/(?:\s|&nbsp;|&#160;)+/g, ' ');
      // Blanks between the rows and cells of a table are no content.
      if (collapsed === ' ' && /^t(?:able|r)$/.test(this.#stack.at(-1)?.as ?? '')) return;
      this.#out.push(escapeAngles(collapsed));
    }
  }

  open(name: string, attributes: string): void {
    if (this.#skipped !== undefined) {
      if (name === this.#skipped.name) this.#skipped.depth++;
      return;
    }
    if (NEVER.has(name) || (!this.#keepNoise && NOISE.has(name))) {
      if (!attributes.endsWith('/')) this.#skipped = { name, depth: 1 };
    } else if (this.#code !== undefined) this.#insideCode(name, attributes);
    else if (name === 'title') this.#inTitle = true;
    else if (name === 'base')
      this.#base = this.#absolute(attribute(attributes, 'href')) ?? this.#base;
    else if (name === 'pre') {
      this.#endOpen(['p'], ['td', 'th', 'li']);
      this.#code = { text: '', language: languageOf(attributes) };
    } else if (name === 'br' || name === 'hr') this.#break(name);
    else if (name === 'img') this.#image(attributes);
    else this.#element(name, attributes);
  }

  close(name: string): void {
    if (this.#skipped !== undefined) {
      if (name === this.#skipped.name && --this.#skipped.depth === 0) this.#skipped = undefined;
    } else if (name === 'title') this.#inTitle = false;
    else if (this.#code !== undefined) {
      if (name === 'pre') this.#endCode();
      else if (/^(?:div|p|li|tr)$/.test(name) && !this.#code.text.endsWith('\n')) {
        this.#code.text += '\n';
      }
    } else {
      const cells = /^(?:table|tr|td|th)$/.test(name) ? ['table'] : ['td', 'th', 'table'];
      this.#endOpen([name], cells);
      // A block that was dropped still ends its line.
      if (BECOMES.get(name) === 'div') this.#out.push(' ');
    }
  }

  finish(): CleanPage {
    if (this.#code !== undefined) this.#endCode();
    while (this.#stack.length > 0) this.#pop();
    return {
      html: this.#out.join(''),
      title: this.#title || undefined,
      simplified: this.#elements >= MAX_ELEMENTS,
    };
  }

  #element(name: string, attributes: string): void {
    let as = BECOMES.get(name);
    if (name === 'table' && this.#layout.has(this.#tables++)) as = 'div';
    if (as === undefined) return;
    if (!INLINE.has(as)) this.#endOpen(['p'], ['td', 'th', 'li', 'table']);
    const sibling = ENDED_BY_SIBLING.get(name);
    if (sibling !== undefined) this.#endOpen(sibling.ends, sibling.within);
    if (/^t[rdh]$/.test(as) && !this.#insideDataTable()) as = 'div';
    if (this.#stack.length >= MAX_DEPTH || this.#elements >= MAX_ELEMENTS) {
      if (!INLINE.has(as)) this.#break('br');
      return;
    }
    let tag = `<${as}>`;
    if (as === 'a') {
      const href = this.#absolute(attribute(attributes, 'href'));
      if (href === undefined) return;
      tag = `<a href="${escapeAttribute(href)}">`;
    }
    this.#elements++;
    this.#stack.push({ name, as });
    this.#out.push(tag);
  }

  #break(name: string): void {
    this.#out.push(this.#elements++ < MAX_ELEMENTS ? `<${name}>` : ' ');
  }

  #insideDataTable(): boolean {
    return this.#stack.findLast((open) => open.name === 'table')?.as === 'table';
  }

  #image(attributes: string): void {
    const alt = attribute(attributes, 'alt')?.trim();
    const source = this.#absolute(attribute(attributes, 'src'));
    if (!alt || source === undefined || this.#elements++ >= MAX_ELEMENTS) return;
    this.#out.push(`<img alt="${escapeAttribute(alt)}" src="${escapeAttribute(source)}">`);
  }

  #insideCode(name: string, attributes: string): void {
    const code = this.#code;
    if (code === undefined) return;
    if (name === 'br') code.text += '\n';
    if (name === 'code' && code.language === '') code.language = languageOf(attributes);
  }

  #endCode(): void {
    const { text, language } = this.#code ?? { text: '', language: '' };
    this.#code = undefined;
    const kind = language === '' ? '' : ` class="language-${language}"`;
    this.#out.push(`<pre><code${kind}>${escapeAngles(text)}</code></pre>`);
  }

  /** Ends the nearest open element of these names with all that it holds. */
  #endOpen(names: readonly string[], within: readonly string[]): void {
    for (let index = this.#stack.length - 1; index >= 0; index--) {
      const name = this.#stack[index]?.name ?? '';
      if (names.includes(name)) {
        while (this.#stack.length > index) this.#pop();
        return;
      }
      if (within.includes(name)) return;
    }
  }

  #pop(): void {
    const open = this.#stack.pop();
    if (open !== undefined) this.#out.push(`</${open.as}>`);
  }

  /** Undefined for what leads nowhere: fragments of the same page, scripts, data. */
  #absolute(reference: string | undefined): string | undefined {
    const trimmed = reference?.trim();
    if (!trimmed || trimmed.startsWith('#') || trimmed.length > 2000) return undefined;
    if (parseUrl(trimmed, this.#base) === undefined) return undefined;
    const url = new URL(trimmed, this.#base);
    return /^(?:https?|mailto):$/.test(url.protocol) ? url.href : undefined;
  }
}

function languageOf(attributes: string): string {
  const classes = attribute(attributes, 'class') ?? '';
  return /(?:language-|lang-|highlight-source-)([\w+#-]{1,20})/.exec(classes)?.[1] ?? '';
}

function escapeAttribute(value: string): string {
  return escapeAngles(value.replaceAll('&', '&amp;').replaceAll('"', '&quot;'));
}

function escapeAngles(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
