import { findMentions, type Mention, resolveMentions } from '../mcp/resources/mentions.js';
import { join } from '../platform/fs/paths.js';
import type { UserBlock } from '../protocol/content.js';
import type { OutsideInvoke } from './host-tool-calls.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { stillNames, type TypedText } from './mention-source.js';
import { resourceReader } from './resource-reader.js';
import type { Log, SessionEnvironment } from './session-environment.js';

export interface ResourceMentionParts {
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'>;
  readonly typed: TypedText;
  readonly invoke: OutsideInvoke;
  readonly signal: AbortSignal;
  /** For people. */
  tell(text: string): void;
}

/** What a prompt of a person names as `@server:uri`. Each is read past the gate, as a call of the model's. */
export async function attachedResources(
  { fs }: Pick<SessionEnvironment, 'fs'>,
  { log, mcp, typed, invoke, signal, tell }: ResourceMentionParts,
): Promise<readonly UserBlock[]> {
  const connections = mcp.connections();
  const names = connections.map(({ declaration }) => declaration.name);
  const counts = stillNames(typed, (text) => findMentions(text, names).map(keyOf));
  const found = typed.texts.flatMap((text) => findMentions(text, names));
  const once = new Map(found.map((mention) => [keyOf(mention), mention]));
  const mentions = [...once].flatMap(([key, mention]) => (counts(key) ? [mention] : []));
  if (mentions.length === 0) return [];
  const read = resourceReader({ fs }, mcp.connections, invoke);
  const blocks = await resolveMentions(mentions, {
    connections,
    read: (mention) => read(mention, signal),
    async save(name, bytes) {
      const file = join(log.store.spillDirectory(log.history.sessionId), name);
      await fs.writeAtomic(file, bytes, { mode: 0o600 });
      return file;
    },
  });
  const failures = blocks.flatMap(({ failure }) => failure ?? []);
  // Of an interrupt people know themselves.
  for (const failure of signal.aborted ? failures.slice(0, 1) : failures) tell(failure);
  return blocks.map(({ text }) => ({ type: 'text', text }));
}

function keyOf({ server, uri }: Mention): string {
  return JSON.stringify([server, uri]);
}
