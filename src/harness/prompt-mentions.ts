import type { HookNotes } from '../agents/hook-notes.js';
import type { SessionConfig } from '../agents/session-config.js';
import type { Beside } from '../agents/typed-skills.js';
import { type FileMention, fileMentions, keyOf } from '../context/file-mentions.js';
import { err } from '../util/result.js';
import type { OpenAgents } from './agents.js';
import type { Ground, Log } from './ground.js';
import type { Hands } from './hands.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { askedAgents } from './mentioned-agents.js';
import { attachedFiles } from './mentioned-files.js';
import { mentionedPlaces } from './mentioned-places.js';
import { type OutsideInvoke, outsideInvoke } from './outside-calls.js';
import { stillNames, type TypedText } from './typed-text.js';

export interface MentionParts {
  readonly hands: Hands;
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
  readonly agents: Pick<OpenAgents, 'startable'> | undefined;
  readonly notes: Pick<HookNotes, 'blocks' | 'note'>;
  readonly typed: TypedText;
  /** Who is shown it. Absent: the main agent, which may then change the files. */
  readonly shownTo?: 'other';
  readonly signal: AbortSignal;
  /** For people. */
  tell(text: string): void;
}

/**
 * What stands beside a prompt for what a person names in it with an `@`: agents, files and directories,
 * resources of servers. All that is read for it goes the one way in, past the gate.
 */
export async function attachedTo(
  config: SessionConfig,
  ground: Ground,
  parts: MentionParts,
): Promise<Beside> {
  const { hands, log, mcp, agents, notes, typed, signal, tell } = parts;
  let stop: string | undefined;
  const outside = outsideInvoke(config, ground, {
    hands,
    as: 'mention',
    onStop(why) {
      stop ??= why;
    },
  });
  const invoke: OutsideInvoke = async (...call) =>
    stop === undefined ? await outside(...call) : err('the turn was stopped before it was read');
  const asked = await askedAgents(namedFiles(typed), { agents, pool: hands.builtins.pool, tell });
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
  if (stop !== undefined) return { inputs: [], stop };
  if (parts.shownTo === undefined) {
    for (const [path, version] of files.seen) hands.readState.note(path, version);
  }
  const blocks = [...asked.blocks, ...files.blocks, ...resources];
  const note = await notes.note(files.contexts);
  return {
    inputs: [
      ...(blocks.length === 0 ? [] : [notes.blocks(blocks)]),
      ...(note === undefined ? [] : [note]),
    ],
  };
}

function namedFiles(typed: TypedText): readonly FileMention[] {
  const counts = stillNames(typed, (text) =>
    fileMentions(text).flatMap(({ meanings }) => meanings.map(keyOf)),
  );
  return fileMentions(typed.text).flatMap((mention) => {
    const meanings = mention.meanings.filter((meaning) => counts(keyOf(meaning)));
    return meanings.length === 0 ? [] : [{ ...mention, meanings }];
  });
}
