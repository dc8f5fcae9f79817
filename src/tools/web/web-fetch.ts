import { messageOf } from '../../errors.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { head, sliceWhole } from '../../lib/text/truncate.js';
import type { Clock } from '../../platform/clock.js';
import type { FetchFailure, FetchResponse, PublicFetch } from '../../platform/http/public-fetch.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { Tool, ToolOutput } from '../tool.js';
import description from './web-fetch.md';

/** Characters of a page shown at once. */
export const PAGE_CHUNK = 50_000;
const MAX_REDIRECTS = 5;
const ERROR_PAGE_CHARS = 2_000;
const TOTAL_MS = 30_000;

export interface WebFetchDeps {
  /** Loads the guarded fetch; called with the first page, so that the network costs nothing at start. */
  readonly fetch: () => Promise<PublicFetch>;
  /** A small model that answers `prompt` from the page. Undefined from it: show the page itself. */
  readonly summarise?: (
    prompt: string,
    text: string,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  readonly clock: Clock;
  /** For tests against a local server: loopback is allowed and its http is not upgraded. */
  readonly allowLoopback?: boolean;
}

type Input = ToolInputs['WebFetch'];

export function webFetchTool(deps: WebFetchDeps): Tool<Input> {
  const cache = createPageCache(() => deps.clock.now());
  return defineTool({
    name: 'WebFetch',
    kind: 'network',
    description,
    subject: (input) => {
      const url = parseUrl(input.url)?.href ?? input.url;
      return { paths: [], url, summary: `Fetch ${head(url, 200)}` };
    },
    concurrencySafe: () => true,
    async run(input, context) {
      const start = deps.clock.monotonic();
      const finish = (output: Shown): ToolOutput => ({
        content: output.text,
        ...(output.isError ? { isError: true } : {}),
        structured: {
          bytes: output.bytes,
          code: output.code,
          codeText: output.codeText,
          result: output.text,
          durationMs: Math.round(deps.clock.monotonic() - start),
          url: input.url,
        },
      });
      const url = requestUrl(input.url, deps);
      if (url === undefined) {
        return finish(
          problem(`"${head(input.url, 200)}" is not a URL. Give a full one, https://…`),
        );
      }
      let page = cache.get(url);
      if (page === undefined) {
        const fetched = await fetchPage(url, context.signal, deps);
        if (!fetched.ok) return finish(fetched.error);
        page = fetched.value;
        cache.set(url, page);
      }
      return finish(await show(page, input, { signal: context.signal, deps }));
    },
  });
}

interface Page {
  readonly url: string;
  readonly text: string;
  readonly title: string | undefined;
  readonly notes: readonly string[];
  readonly bytes: number;
  readonly code: number;
  readonly codeText: string;
}

interface Shown {
  readonly text: string;
  readonly isError?: boolean;
  readonly bytes: number;
  readonly code: number;
  readonly codeText: string;
}

/** The URL as it is fetched and cached: https, without fragment. */
function requestUrl(text: string, deps: WebFetchDeps): string | undefined {
  if (parseUrl(text) === undefined) return undefined;
  const url = new URL(text);
  url.hash = '';
  const isLocal = /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(url.hostname);
  if (url.protocol === 'http:' && !(deps.allowLoopback === true && isLocal)) {
    url.protocol = 'https:';
  }
  return url.href;
}

async function fetchPage(
  first: string,
  signal: AbortSignal,
  deps: WebFetchDeps,
): Promise<Result<Page, Shown>> {
  const fetch = await deps.fetch();
  const deadline = deps.clock.monotonic() + TOTAL_MS;
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const result = await fetch({
      url,
      headers: { 'user-agent': 'Portcullis', accept: ACCEPT },
      signal,
      timeoutMs: Math.max(1, deadline - deps.clock.monotonic()),
      allow: { loopback: deps.allowLoopback === true },
    });
    if (!result.ok) return err(problem(failureText(url, first, result.error)));
    if (result.value.kind === 'response') return readPage(url, result.value);
    const target = requestUrl(result.value.redirect, deps) ?? result.value.redirect;
    // fail-closed: leave was given for this host; another one needs its own.
    if (new URL(target).host !== new URL(url).host) {
      const { status: code, statusText: codeText } = result.value;
      return err({ text: elsewhere(url, target, code), bytes: 0, code, codeText });
    }
    url = target;
  }
  return err(problem(`${first} redirected more than ${MAX_REDIRECTS} times; last to ${url}.`));
}

const ACCEPT =
  'text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5';

async function readPage(url: string, response: FetchResponse): Promise<Result<Page, Shown>> {
  const { status: code, statusText: codeText, body } = response;
  const bytes = body.byteLength;
  const { pageText } = await import('./page-text.js');
  const text = await pageText(body, response.headers['content-type'], url);
  if (code < 200 || code >= 400) {
    const shown = text.ok ? head(text.value.text, ERROR_PAGE_CHARS) : '';
    const line = `${url} answered with HTTP ${code} ${codeText}.`;
    return err({ text: `${line}\n\n${shown}`.trim(), isError: true, bytes, code, codeText });
  }
  if (!text.ok) return err({ text: text.error, isError: true, bytes, code, codeText });
  return ok({ url, ...text.value, bytes, code, codeText });
}

async function show(
  page: Page,
  input: Input,
  run: { readonly signal: AbortSignal; readonly deps: WebFetchDeps },
): Promise<Shown> {
  const { bytes, code, codeText, text } = page;
  const offset = input.offset ?? 0;
  if (offset > 0 && offset >= text.length) {
    return problem(`offset ${offset} is past the end: the page has ${text.length} characters.`);
  }
  const chunk = sliceWhole(text, offset, offset + PAGE_CHUNK);
  const end = Math.min(text.length, offset + PAGE_CHUNK);
  const notes = [...page.notes];
  if (offset > 0 || end < text.length) {
    const more = end < text.length ? `; for more pass offset: ${end}` : '';
    notes.push(`characters ${offset}-${end} of ${text.length}${more}`);
  }
  const answer = await extract(chunk, input.prompt, run);
  const top = `${page.url}${page.title === undefined ? '' : ` (${page.title})`}`;
  const shown = answer ?? (chunk === '' ? '(the page is empty)' : chunk);
  const bottom = notes.length === 0 ? '' : `\n\n[${notes.join('; ')}]`;
  return { text: `${top}\n\n${shown}${bottom}`, bytes, code, codeText };
}

async function extract(
  chunk: string,
  prompt: string,
  { signal, deps }: { readonly signal: AbortSignal; readonly deps: WebFetchDeps },
): Promise<string | undefined> {
  if (deps.summarise === undefined || chunk === '') return undefined;
  try {
    return await deps.summarise(prompt, chunk, signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    // The page itself serves where the small model does not answer.
    return `(no extract: ${messageOf(thrown)})\n\n${chunk}`;
  }
}

function failureText(url: string, first: string, failure: FetchFailure): string {
  const via = url === first ? '' : ` (redirected from ${first})`;
  if (failure.reason === 'forbidden') {
    return `${url}${via} is not fetched: ${failure.message}. WebFetch reaches public addresses only.`;
  }
  const upgraded = failure.reason === 'connection' ? ' WebFetch uses https only.' : '';
  return `${url}${via} could not be fetched: ${failure.message}.${upgraded}`;
}

function elsewhere(url: string, target: string, status: number): string {
  return `${url} redirects (${status}) to another host, which was not followed:\n${target}\nCall WebFetch with that URL if you want it.`;
}

function problem(text: string): Shown {
  return { text, isError: true, bytes: 0, code: 0, codeText: '' };
}

const PAGE_LIFETIME_MS = 15 * 60 * 1000;
const MAX_PAGES = 50;
const MAX_CHARS = 10_000_000;

/** Pages that were fetched a short while ago, so that reading on costs no second request. */
function createPageCache(now: () => number) {
  const pages = new Map<string, { readonly page: Page; readonly until: number }>();
  return {
    get(url: string): Page | undefined {
      const found = pages.get(url);
      return found !== undefined && found.until > now() ? found.page : undefined;
    },
    set(url: string, page: Page): void {
      pages.delete(url);
      pages.set(url, { page, until: now() + PAGE_LIFETIME_MS });
      let chars = [...pages.values()].reduce((sum, { page: { text } }) => sum + text.length, 0);
      // A map keeps insertion order: the first is the oldest.
      for (const [oldest, { page }] of pages) {
        if (pages.size <= MAX_PAGES && chars <= MAX_CHARS) break;
        pages.delete(oldest);
        chars -= page.text.length;
      }
    },
  };
}
