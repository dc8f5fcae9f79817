import type { HookNotes } from '../agents/hook-notes.js';
import type { SessionConfig } from '../agents/session-config.js';
import { fileMentions } from '../context/file-mentions.js';
import type { InputMessage } from '../loop/types.js';
import type { OpenAgents } from './agents.js';
import type { Ground, Log } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { askedAgents } from './mentioned-agents.js';
import { attachedFiles } from './mentioned-files.js';
import { mentionedPlaces } from './mentioned-places.js';
import { outsideInvoke } from './outside-calls.js';
import type { TypedText } from './typed-text.js';

export interface MentionParts {
  readonly hands: Hands;
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
  readonly agents: Pick<OpenAgents, 'startable'> | undefined;
  readonly notes: Pick<HookNotes, 'blocks' | 'note'>;
  readonly typed: readonly TypedText[];
  readonly signal: AbortSignal;
  /** For people. */
  tell(text: string): void;
}

/**
 * What stands beside prompts for what a person names in them with an `@`: agents, files and directories,
 * resources of servers. All that is read for it goes the one way in, past the gate.
 */
export async function attachedTo(
  config: SessionConfig,
  ground: Ground,
  parts: MentionParts,
): Promise<readonly InputMessage[]> {
  const { hands, log, mcp, agents, notes, typed, signal, tell } = parts;
  const invoke = outsideInvoke(config, ground, { hands, as: 'mention' });
  // A hook may have taken a name out of the prompt.
  const named = typed.flatMap(({ text, sent }) =>
    fileMentions(text).filter(({ written }) => sent.includes(written)),
  );
  const asked = await askedAgents(named, { agents, pool: hands.builtins.pool, tell });
  const places = await mentionedPlaces(asked.others, { config, ground, tell });
  const files = await attachedFiles(places, {
    config,
    ground,
    read: hands.builtins.pool.resolve('Read'),
    invoke,
    signal,
    tell,
  });
  const resources =
    mcp === undefined
      ? []
      : await import('./mcp-mentions.js').then(({ attachedResources }) =>
          attachedResources(ground, { log, mcp, typed, invoke, signal, tell }),
        );
  const blocks = [...asked.blocks, ...files.blocks, ...resources];
  const note = await notes.note(files.contexts);
  return [
    ...(blocks.length === 0 ? [] : [notes.blocks(blocks)]),
    ...(note === undefined ? [] : [note]),
  ];
}
