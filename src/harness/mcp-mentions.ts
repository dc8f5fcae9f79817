import type { SessionConfig } from '../agents/session-config.js';
import { join } from '../env/paths.js';
import type { InputMessage } from '../loop/types.js';
import { findMentions, resolveMentions } from '../mcp/mentions.js';
import { textOf, type UserBlock } from '../protocol/content.js';
import type { Ground, Log } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { outsideInvoke } from './outside-calls.js';
import { resourceReader } from './resource-reader.js';

export interface MentionParts {
  readonly hands: Hands;
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
  /** For people. */
  tell(text: string): void;
}

/** What prompts of a person name as `@server:uri`. Each is read past the gate, as a call of the model's. */
export async function attachedResources(
  config: SessionConfig,
  ground: Ground,
  {
    hands,
    log,
    mcp,
    tell,
    prompts,
    signal,
  }: MentionParts & { readonly prompts: readonly InputMessage[]; readonly signal: AbortSignal },
): Promise<readonly UserBlock[]> {
  if (mcp === undefined) return [];
  const typed = prompts
    .filter(({ meta, verbatim }) => meta !== true && verbatim !== true)
    .map(({ content }) => textOf(content))
    .filter((text) => text.includes('@'));
  if (typed.length === 0) return [];
  const connections = mcp.connections();
  const names = connections.map(({ declaration }) => declaration.name);
  const mentions = typed.flatMap((text) => findMentions(text, names));
  if (mentions.length === 0) return [];
  const invoke = outsideInvoke(config, ground, { hands, as: 'mention' });
  const read = resourceReader(ground, mcp.connections, invoke);
  const blocks = await resolveMentions(mentions, {
    connections,
    read: (mention) => read(mention, signal),
    async save(name, bytes) {
      const file = join(log.store.spillDirectory(log.history.sessionId), name);
      await ground.fs.writeAtomic(file, bytes, { mode: 0o600 });
      return file;
    },
  });
  for (const { failure } of blocks) if (failure !== undefined) tell(failure);
  return blocks.map(({ text }) => ({ type: 'text', text }));
}
