import { isRecord } from '../../lib/own.js';
import type { ListKind, RawPrompt, RawResource, RawTool } from '../server.js';
import { hasSoundHeaderParameters } from './header-parameters.js';
import {
  distinctResources,
  nameOfItem,
  type PlainKind,
  type Unusable,
  unreadableReason,
  unusablePrompts,
} from './list-problems.js';
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
  tools: (value) => readTool(value) ?? nameAlone(value),
  resources: readResource,
  prompts: readPrompt,
};

export interface FetchedList<K extends ListKind> {
  readonly items: readonly ListItems[K][];
  /** Resources and prompts that are not offered. */
  readonly unusable: readonly Unusable[];
}

/** The server sent a list that is none, or that has no end. `said`: for the error, where more is known. */
export class BadList extends Error {
  readonly said: string | undefined;

  constructor(said?: string) {
    super(said ?? 'no list');
    this.said = said;
  }
}

/**
 * All pages of a list. A tool that cannot be read or used is in it with its name alone, so that it does not
 * hide the rest and is told of by whoever checks definitions; other such items are named beside it.
 * Rejects with whatever the library throws, or `BadList`.
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
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    // fail-closed: a server that always has one more page does not hold up the rest.
    if (page > 0 && options.left() <= 0) throw new BadList('did not end its list in time.');
    const result = await session.client.request(
      { method: `${kind}/list`, params: cursor === undefined ? {} : { cursor } },
      AS_IT_IS,
      { timeout: Math.max(1, options.left()), signal: options.signal },
    );
    if (!isRecord(result) || !Array.isArray(result[kind])) throw new BadList();
    for (const raw of result[kind]) {
      const read = readItem(session, kind, raw);
      if ('item' in read) items.push(read.item);
      else unusable.push(read);
    }
    // fail-closed: a part of an endless list is not the list.
    if (items.length + unusable.length > MAX_ITEMS)
      throw new BadList(`lists more than ${MAX_ITEMS} ${kind}.`);
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '' || next === cursor) {
      return checked({ kind, items, unusable });
    }
    cursor = next;
  }
  throw new BadList(`gives its list in more than ${MAX_PAGES} pages.`);
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
  const unread = kind === 'tools' ? undefined : unreadableReason(kind as PlainKind, raw);
  const problem = unread ?? (item === undefined ? 'it cannot be read' : problemOf(session, item));
  if (problem === undefined && item !== undefined) return { item };
  if (kind === 'tools') return { item: nameAlone(item, problem) as ListItems[K] };
  return { name: nameOfItem(kind as PlainKind, raw), reason: problem ?? '' };
}

/** Together, for what shows only when all are there. */
function checked<K extends ListKind>({
  kind,
  items,
  unusable,
}: FetchedList<K> & { readonly kind: K }): FetchedList<K> {
  if (kind === 'resources') {
    const distinct = distinctResources(items as readonly RawResource[]);
    const kept = distinct.kept as readonly ListItems[K][];
    return { items: kept, unusable: [...unusable, ...distinct.unusable] };
  }
  if (kind !== 'prompts') return { items, unusable };
  return { items, unusable: [...unusable, ...unusablePrompts(items as readonly RawPrompt[])] };
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
