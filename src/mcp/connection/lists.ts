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
 * Fetches all pages of a list. An unusable tool stays in it by name only, for the check of definitions to
 * report; other unusable items are returned separately.
 */
export async function fetchList<K extends ListKind>(
  session: Session,
  kind: K,
  options: {
    /** Milliseconds left for all pages. */
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
    // fail-closed: a server with endless pages must not block the others.
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
    // fail-closed: part of an endless list does not count as the list.
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

/** A tool without a schema is never offered; the name is empty when it is not text. */
function nameAlone(value: unknown, unusable?: string): RawTool {
  const name = isRecord(value) && typeof value.name === 'string' ? value.name : '';
  const inputSchema = undefined as unknown as RawTool['inputSchema'];
  return { name, inputSchema, unusable };
}

/** Reads an item or says why it is unusable. */
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
  // fail-closed: a value that is unsafe to traverse is not offered.
  if (session.isRemote && !isSafeValue(item)) {
    return 'its definition is nested too deep, or something in it is named "__proto__"';
  }
  if (!('inputSchema' in item) || !isRecord(item.inputSchema)) return undefined;
  const mirrorsHeaders = session.isRemote && session.era === 'modern';
  return mirrorsHeaders && !hasSoundHeaderParameters(item.inputSchema)
    ? 'the parameters that it wants repeated as HTTP headers (x-mcp-header) are not declared as the protocol demands: each a plain header name of its own, for text, a whole number or a truth value'
    : undefined;
}

interface Unusable {
  readonly name: unknown;
  readonly reason: string;
}

/** Why an item is unreadable; the check of definitions covers tools. */
function unreadableReason(kind: ListKind, value: unknown): string | undefined {
  if (kind === 'tools') return undefined;
  if (!isRecord(value)) return 'it is not an object';
  if (kind === 'resources') return uriProblem(value.uri);
  if (typeof value.name !== 'string' || value.name === '') return 'it has no name';
  const given = value.arguments ?? [];
  if (!Array.isArray(given)) return 'its arguments are no list';
  // fail-closed: arguments are filled by position, so none can be dropped.
  const isNamed = (one: unknown): boolean => isRecord(one) && typeof one.name === 'string';
  return given.every(isNamed) ? undefined : 'one of its arguments has no name';
}

function nameOfItem(kind: ListKind, value: unknown): unknown {
  if (!isRecord(value)) return '';
  const isGiven = (one: unknown): boolean => typeof one === 'string' && one !== '';
  return [kind === 'resources' ? value.uri : undefined, value.name, value.title].find(isGiven);
}

/** Checks that a person or model can repeat the URI exactly. */
function uriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.trim() === '') return 'it has no URI';
  if (uri.length > LONGEST_URI) return `its URI has ${uri.length} characters`;
  // fail-closed: the URI shown and the URI fetched must be the same.
  return oneLine(uri, LONGEST_URI) === uri
    ? undefined
    : 'its URI holds characters that are not seen, or that would be shown as others';
}

const REPEATED = 'it is listed more than once; the first one counts';

/** Prompts that stay in the list but are not offered. */
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

/** A server may have thousands of unusable items. */
const MOST_NAMED = 10;

/** Describes the unusable items in one bounded text without invisible characters. */
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
/** These keywords hold data, not schemas. */
const DATA = new Set(['default', 'const', 'enum', 'examples', KEY]);

/**
 * Whether parameters that are repeated as HTTP headers follow the protocol: a plain unique header name, a
 * simple type and reachable through `properties` alone. The library drops other tools with a warning on
 * stderr. Callers have bounded the nesting already.
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
