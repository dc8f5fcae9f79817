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
  tools: (value) => readTool(value) ?? nameAlone(value),
  resources: readResource,
  prompts: readPrompt,
};

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
 * hide the rest and is told of by whoever checks definitions; other such items are left out.
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
    if (page > 0 && options.left() <= 0) throw new BadList('did not end its list in time.');
    const result = await session.client.request(
      { method: `${kind}/list`, params: cursor === undefined ? {} : { cursor } },
      AS_IT_IS,
      { timeout: Math.max(1, options.left()), signal: options.signal },
    );
    if (!isRecord(result) || !Array.isArray(result[kind])) throw new BadList();
    for (const raw of result[kind]) {
      const item = READERS[kind](raw);
      const kept = item === undefined ? undefined : usable(session, kind, item);
      if (kept !== undefined) items.push(kept);
    }
    // fail-closed: a part of an endless list is not the list.
    if (items.length > MAX_ITEMS) throw new BadList(`lists more than ${MAX_ITEMS} ${kind}.`);
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '' || next === cursor) return items;
    cursor = next;
  }
  throw new BadList(`gives its list in more than ${MAX_PAGES} pages.`);
}

/** Without a schema it is never offered. Empty for a name that is no text. */
function nameAlone(value: unknown, unusable?: string): RawTool {
  const name = isRecord(value) && typeof value.name === 'string' ? value.name : '';
  const inputSchema = undefined as unknown as RawTool['inputSchema'];
  return { name, inputSchema, ...(unusable === undefined ? {} : { unusable }) };
}

/** The item as far as it may be handed on; undefined for one that is left out. */
function usable<K extends ListKind>(
  session: Session,
  kind: K,
  item: ListItems[K],
): ListItems[K] | undefined {
  const problem = problemOf(session, item);
  if (problem === undefined) return item;
  if (kind !== 'tools') return undefined;
  const bare: ListItems['tools'] = nameAlone(item, problem);
  return bare as ListItems[K];
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
