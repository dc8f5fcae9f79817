import { isRecord } from '../util/own.js';
import { AS_IT_IS, isSafeValue, readPrompt, readResource, readTool } from './connection-results.js';
import type { Session } from './connection-session.js';
import { hasSoundHeaderParameters } from './header-parameters.js';
import type { ListKind, RawPrompt, RawResource, RawTool } from './server.js';

const MAX_PAGES = 100;
const MAX_ITEMS = 10_000;

export interface ListItems {
  readonly tools: RawTool;
  readonly resources: RawResource;
  readonly prompts: RawPrompt;
}

const READERS: { readonly [K in ListKind]: (value: unknown) => ListItems[K] | undefined } = {
  tools: (value) => readTool(value) ?? unreadTool(value),
  resources: readResource,
  prompts: readPrompt,
};

/** The server sent a list that is none, or that has no end. */
export class BadList extends Error {}

/**
 * All pages of a list. A tool that cannot be read is in it with its name alone, so that it does not hide
 * the rest and is told of by whoever checks definitions; other items that cannot be read are left out.
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
): Promise<readonly ListItems[K][]> {
  const offers = session.client.getServerCapabilities();
  if (offers?.[kind] === undefined) return [];
  const items: ListItems[K][] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    // fail-closed: a server that always has one more page does not hold up the rest.
    if (page > 0 && options.left() <= 0) throw new BadList('too slow');
    const result = await session.client.request(
      { method: `${kind}/list`, params: cursor === undefined ? {} : { cursor } },
      AS_IT_IS,
      { timeout: Math.max(1, options.left()), signal: options.signal },
    );
    if (!isRecord(result) || !Array.isArray(result[kind])) throw new BadList('no list');
    for (const raw of result[kind]) {
      const item = READERS[kind](raw);
      if (item !== undefined && isOffered(session, item)) items.push(item);
    }
    // fail-closed: a part of an endless list is not the list.
    if (items.length > MAX_ITEMS) throw new BadList('too many items');
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '' || next === cursor) return items;
    cursor = next;
  }
  throw new BadList('too many pages');
}

/** Without a schema it is never offered. Empty for a name that is no text. */
function unreadTool(value: unknown): RawTool {
  const name = isRecord(value) && typeof value.name === 'string' ? value.name : '';
  return { name, inputSchema: undefined as unknown as RawTool['inputSchema'] };
}

function isOffered(session: Session, item: RawTool | RawResource | RawPrompt): boolean {
  if (session.isRemote && !isSafeValue(item)) return false;
  if (!('inputSchema' in item) || !isRecord(item.inputSchema)) return true;
  const mirrorsHeaders = session.isRemote && session.era === 'modern';
  return !mirrorsHeaders || hasSoundHeaderParameters(item.inputSchema);
}
