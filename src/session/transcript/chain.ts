import { PortcullisError } from '../../errors.js';
import type { ToolUseBlock, UserBlock } from '../../protocol/content.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import type { LoadedSession } from './store.js';

export interface ChainOptions {
  /** Ends the chain with this entry, inclusive. */
  readonly resumeAt?: string;
  /** For a subagent's own file, whose entries are all side entries of the session. */
  readonly sidechain?: boolean;
}

export interface Chain {
  /** From the root, or the last compaction, to the leaf. */
  readonly entries: readonly TranscriptEntry[];
  readonly leaf: string | null;
}

/** The branch of the tree that the conversation continues on: the one written last. */
export function chainOf(loaded: LoadedSession, options: ChainOptions = {}): Chain {
  const wanted = options.sidechain === true;
  const pool = loaded.entries.filter((entry) => (entry.isSidechain === true) === wanted);
  const byUuid = new Map(pool.map((entry) => [entry.uuid, entry]));
  const branchTo = (leaf: TranscriptEntry): TranscriptEntry[] => walk(leaf, byUuid, loaded.links);
  const leaf =
    options.resumeAt === undefined
      ? lastLeaf(pool, branchTo)
      : (byUuid.get(options.resumeAt) ?? unknownEntry(loaded.sessionId, options.resumeAt));
  if (leaf === undefined) return { entries: [], leaf: null };
  const chain = branchTo(leaf);
  return {
    entries: withParallelParts(
      chain,
      pool.slice(pool.indexOf(chain[0] ?? leaf), pool.indexOf(leaf) + 1),
    ),
    leaf: leaf.uuid,
  };
}

function unknownEntry(sessionId: string, uuid: string): never {
  throw new PortcullisError('session', `the session ${sessionId} has no message ${uuid}`, {
    remedy: 'Take the uuid of a message of that session.',
  });
}

/** Files only grow, so the last entry is a leaf; a trailing meta entry counts only if it continues that branch. */
function lastLeaf(
  pool: readonly TranscriptEntry[],
  branchTo: (leaf: TranscriptEntry) => readonly TranscriptEntry[],
): TranscriptEntry | undefined {
  const leaf = pool.findLast((entry) => entry.isMeta !== true);
  const last = pool.at(-1);
  if (leaf === undefined || last === undefined || last === leaf) return last;
  return branchTo(last).includes(leaf) ? last : leaf;
}

/** Root first; a parent missing from the file or a cycle ends the walk. */
function walk(
  leaf: TranscriptEntry,
  byUuid: ReadonlyMap<string, TranscriptEntry>,
  links: LoadedSession['links'],
): TranscriptEntry[] {
  const seen = new Set<string>();
  const chain: TranscriptEntry[] = [];
  let next: string | null | undefined = leaf.uuid;
  while (typeof next === 'string' && !seen.has(next)) {
    seen.add(next);
    const entry = byUuid.get(next);
    if (entry !== undefined) chain.push(entry);
    if (entry !== undefined && isBoundary(entry)) break;
    next = entry === undefined ? links?.get(next) : entry.parentUuid;
  }
  return chain.reverse();
}

function isBoundary(entry: TranscriptEntry): boolean {
  return entry.type === 'system' && entry.subtype === 'compact_boundary';
}

/**
 * Other writers attach each result of parallel calls to its own call, so that only one of them is on
 * the chain to the leaf. Adds, in file order, the other blocks of the answers on the chain and the
 * results of their calls.
 */
function withParallelParts(
  chain: readonly TranscriptEntry[],
  pool: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  const included = new Set(chain);
  const answers = new Set(chain.flatMap((entry) => answerKey(entry) ?? []));
  const calls = new Set<string>();
  const answered = new Set<string>();
  for (const entry of pool) {
    if (included.has(entry) || answers.has(answerKey(entry) ?? '')) {
      included.add(entry);
      for (const call of callsOf(entry)) calls.add(call);
    }
  }
  for (const entry of chain) for (const id of resultsOf(entry)) answered.add(id);
  for (const entry of pool) {
    const ids = resultsOf(entry).filter((id) => calls.has(id) && !answered.has(id));
    if (ids.length === 0 || included.has(entry)) continue;
    included.add(entry);
    for (const id of ids) answered.add(id);
  }
  return included.size === chain.length ? chain : pool.filter((entry) => included.has(entry));
}

/** Some providers repeat message ids; together with the request id they are unique. */
function answerKey(entry: TranscriptEntry): string | undefined {
  if (entry.type !== 'assistant' || typeof entry.requestId !== 'string') return undefined;
  return `${entry.requestId} ${entry.message.id}`;
}

function callsOf(entry: TranscriptEntry): string[] {
  if (entry.type !== 'assistant' || typeof entry.message.content === 'string') return [];
  return entry.message.content
    .filter((block): block is ToolUseBlock => block.type === 'tool_use')
    .map((block) => block.id);
}

function resultsOf(entry: TranscriptEntry): string[] {
  if (entry.type !== 'user' || typeof entry.message.content === 'string') return [];
  return entry.message.content.flatMap((block: UserBlock) =>
    block.type === 'tool_result' ? block.tool_use_id : [],
  );
}
