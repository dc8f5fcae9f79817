import { isRecord } from '../../lib/own.js';
import { LONGEST_URI, oneLine } from '../resources/content.js';
import type { ListKind, RawPrompt, RawResource, RawTool } from '../server.js';
import { normaliseName, shownName, toolNameProblem } from '../tools/names.js';
import { breach } from './classify.js';
import { AS_IT_IS, isSafeValue, readPrompt, readResource, readTool } from './results.js';
import type { Session } from './session.js';

const MAX_PAGES = 100;
const MAX_ITEMS = 10_000;

export interface ListItems {
  readonly tools: RawTool;
  readonly resources: RawResource;
  readonly prompts: RawPrompt;
}

const READERS: { readonly [K in ListKind]: (value: unknown) => ListItems[K] | undefined } = {
  tools: readTool,
  resources: readResource,
  prompts: readPrompt,
};

interface FetchedList<K extends ListKind> {
  readonly items: readonly ListItems[K][];
  /** Resources and prompts that are not offered. */
  readonly unusable: readonly Unusable[];
}

/**
 * All pages of a list. A tool that cannot be read or used is in it with its name alone, so that it does not
 * hide the rest and is told of by whoever checks definitions; other such items are named beside it.
 */
export async function fetchList<K extends ListKind>(
  session: Session,
  kind: K,
  options: {
    /** Milliseconds that are left for all pages together. */
    left(): number;
    readonly signal: AbortSignal;
  },
): Promise<FetchedList<K>> {
  const offers = session.client.getServerCapabilities();
  if (offers?.[kind] === undefined) return { items: [], unusable: [] };
  const items: ListItems[K][] = [];
  const unusable: Unusable[] = [];
  const uris = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    // fail-closed: a server that always has one more page does not hold up the rest.
    if (page > 0 && options.left() <= 0) throw breach('did not end its list in time.');
    const result = await session.client.request(
      { method: `${kind}/list`, params: { ...(cursor !== undefined && { cursor }) } },
      AS_IT_IS,
      { timeout: Math.max(1, options.left()), signal: options.signal },
    );
    if (!isRecord(result) || !Array.isArray(result[kind])) throw breach();
    for (const raw of result[kind]) {
      const read = readItem(session, kind, raw);
      if (!('item' in read)) unusable.push(read);
      else if (!('uri' in read.item)) items.push(read.item);
      else if (uris.has(read.item.uri)) unusable.push({ name: read.item.uri, reason: REPEATED });
      else {
        uris.add(read.item.uri);
        items.push(read.item);
      }
    }
    // fail-closed: a part of an endless list is not the list.
    if (items.length + unusable.length > MAX_ITEMS)
      throw breach(`lists more than ${MAX_ITEMS} ${kind}.`);
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '' || next === cursor) {
      if (kind === 'prompts') unusable.push(...unusablePrompts(items as readonly RawPrompt[]));
      return { items, unusable };
    }
    cursor = next;
  }
  throw breach(`gives its list in more than ${MAX_PAGES} pages.`);
}

/** Without a schema it is never offered. Empty for a name that is no text. */
function nameAlone(value: unknown, unusable?: string): RawTool {
  const name = isRecord(value) && typeof value.name === 'string' ? value.name : '';
  const inputSchema = undefined as unknown as RawTool['inputSchema'];
  return { name, inputSchema, unusable };
}

/** The item as far as it may be handed on, or why it is left out. */
function readItem<K extends ListKind>(
  session: Session,
  kind: K,
  raw: unknown,
): { readonly item: ListItems[K] } | Unusable {
  const item = READERS[kind](raw);
  const problem =
    unreadableReason(kind, raw) ?? (item === undefined ? undefined : problemOf(session, item));
  if (problem === undefined && item !== undefined) return { item };
  if (kind === 'tools') return { item: nameAlone(raw, problem) as ListItems[K] };
  return { name: nameOfItem(kind, raw), reason: problem ?? 'it cannot be read' };
}

function problemOf(session: Session, item: ListItems[ListKind]): string | undefined {
  // fail-closed: what cannot be looked through safely is not offered.
  if (session.isRemote && !isSafeValue(item)) {
    return 'its definition is nested too deep, or something in it is named "__proto__"';
  }
  if (!('inputSchema' in item) || !isRecord(item.inputSchema)) return undefined;
  const mirrorsHeaders = session.isRemote && session.era === 'modern';
  return mirrorsHeaders && !hasSoundHeaderParameters(item.inputSchema)
    ? 'the parameters that it wants repeated as HTTP headers (x-mcp-header) are not declared as the protocol demands: each a plain header name of its own, for text, a whole number or a truth value'
    : undefined;
}

/** An item of a server's list that cannot be used, and why. */
interface Unusable {
  readonly name: unknown;
  readonly reason: string;
}

/** Why nothing can be read of an item; undefined when it can. Tools are told of by whoever checks their definitions. */
function unreadableReason(kind: ListKind, value: unknown): string | undefined {
  if (kind === 'tools') return undefined;
  if (!isRecord(value)) return 'it is no object';
  if (kind === 'resources') return uriProblem(value.uri);
  if (typeof value.name !== 'string' || value.name === '') return 'it has no name';
  const given = value.arguments ?? [];
  if (!Array.isArray(given)) return 'its arguments are no list';
  // fail-closed: words are given to arguments by their places, so that none can be left out.
  const isNamed = (one: unknown): boolean => isRecord(one) && typeof one.name === 'string';
  return given.every(isNamed) ? undefined : 'one of its arguments has no name';
}

/** By what people know it. */
function nameOfItem(kind: ListKind, value: unknown): unknown {
  if (!isRecord(value)) return '';
  const isGiven = (one: unknown): boolean => typeof one === 'string' && one !== '';
  return [kind === 'resources' ? value.uri : undefined, value.name, value.title].find(isGiven);
}

/** Whoever reads the list has to give the URI back as it is. */
function uriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.trim() === '') return 'it has no URI';
  if (uri.length > LONGEST_URI) return `its URI has ${uri.length} characters`;
  // fail-closed: what is shown and what is fetched must be the same.
  return oneLine(uri, LONGEST_URI) === uri
    ? undefined
    : 'its URI holds characters that are not seen, or that would be shown as others';
}

const REPEATED = 'it is listed more than once; the first one counts';

/** Prompts that stay in the list and are not offered. */
function unusablePrompts(prompts: readonly RawPrompt[]): readonly Unusable[] {
  const byName = new Map<string, number>();
  const normal = prompts.map(({ name }) => normaliseName(name));
  for (const name of normal) byName.set(name, (byName.get(name) ?? 0) + 1);
  return prompts.flatMap(({ name }, at) => {
    const problem = toolNameProblem(name);
    if (problem !== undefined) return [{ name, reason: problem }];
    const isAlone = byName.get(normal[at] ?? '') === 1;
    const reason = 'another one has the same name once other characters are underscores';
    return isAlone ? [] : [{ name, reason }];
  });
}

/** People read a few; a server may have thousands. */
const MOST_NAMED = 10;

/** One text for all of them, of bounded length and with nothing invisible in it. */
export function unusableText(
  kind: ListKind,
  server: string,
  unusable: readonly Unusable[],
): string | undefined {
  const [first] = unusable;
  if (first === undefined) return undefined;
  const told = unusable
    .slice(0, MOST_NAMED)
    .map(
      ({ name, reason }) => `${isNamed(name) ? shownName(name) : 'one without a name'} (${reason})`,
    );
  const more = unusable.length - told.length;
  const rest = more === 0 ? '' : `; and ${more} more`;
  return `${kind} of the MCP server "${server}" that are not offered: ${told.join('; ')}${rest}`;
}

function isNamed(name: unknown): boolean {
  return typeof name === 'string' && name !== '';
}

const KEY = 'x-mcp-header';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
/** Their values are data, not schemas. */
const DATA = new Set(['default', 'const', 'enum', 'examples', KEY]);

/**
 * Whether the parameters that a tool wants repeated as HTTP headers are declared as the protocol demands: by a plain header
 * name of their own, for simple values, reachable through `properties` alone. Tools that break this must not be offered
 * over HTTP; the library leaves them out with a warning on standard error. Nesting is bounded by then.
 */
export function hasSoundHeaderParameters(
  schema: unknown,
  names = new Set<string>(),
  place: 'top' | 'property' | 'elsewhere' = 'top',
): boolean {
  if (Array.isArray(schema))
    return schema.every((one) => hasSoundHeaderParameters(one, names, 'elsewhere'));
  if (!isRecord(schema)) return true;
  if (Object.hasOwn(schema, KEY) && !(place === 'property' && isSound(schema, names))) return false;
  return Object.entries(schema).every(([key, value]) => {
    if (DATA.has(key)) return true;
    if (key !== 'properties' || !isRecord(value))
      return hasSoundHeaderParameters(value, names, 'elsewhere');
    const inner = place === 'elsewhere' ? place : 'property';
    return Object.values(value).every((one) => hasSoundHeaderParameters(one, names, inner));
  });
}

function isSound(node: Readonly<Record<string, unknown>>, names: Set<string>): boolean {
  const { type, [KEY]: name } = node;
  if (typeof name !== 'string' || !TOKEN.test(name)) return false;
  if (typeof type !== 'string' || !TYPES.has(type) || names.has(name.toLowerCase())) return false;
  names.add(name.toLowerCase());
  return true;
}
