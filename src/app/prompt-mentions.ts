import type { HookNotes } from '../agents/core/hook-notes.js';
import type { SessionConfig } from '../agents/core/session-config.js';
import type { Beside } from '../agents/core/typed-skills.js';
import { type FileMention, fileMentions, keyOf } from '../context/prompt/file-mentions.js';
import { err } from '../lib/result.js';
import type { ForkTools } from '../skills/grants/grant.js';
import type { OpenAgents } from './agents.js';
import { type OutsideInvoke, outsideInvoke } from './host-tool-calls.js';
import type { OpenInstructions } from './instructions.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import { stillNames, type TypedText } from './mention-source.js';
import { askedAgents } from './mentioned-agents.js';
import { attachedFiles, INTERRUPTED } from './mentioned-files.js';
import { mentionedPlaces } from './mentioned-places.js';
import type { Log, SessionEnvironment } from './session-environment.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface MentionParts {
  readonly toolRuntime: ToolRuntime;
  readonly instructions: Pick<OpenInstructions, 'book' | 'countIn'>;
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'> | undefined;
  readonly agents?: Pick<OpenAgents, 'startable'> | undefined;
  readonly notes: Pick<HookNotes, 'blocks' | 'note'>;
  readonly typed: TypedText;
  /** The tools of another agent that is shown it. Absent: the main agent is, which may then change the files. */
  readonly other?: ForkTools;
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
  environment: SessionEnvironment,
  parts: MentionParts,
): Promise<Beside> {
  const { toolRuntime, instructions, log, mcp, agents, notes, typed, signal, tell } = parts;
  const { book } = instructions;
  const trial = parts.other === undefined ? book.onTrial() : undefined;
  const pool = parts.other ?? toolRuntime.builtins.pool;
  let stop: string | undefined;
  const outside = outsideInvoke(environment, {
    toolRuntime,
    instructions,
    as: 'mention',
    shownIn: trial ?? book.forAnother(),
    onStop(why) {
      stop ??= why;
    },
  });
  const invoke: OutsideInvoke = async (...call) => {
    if (stop !== undefined) return err('the turn was stopped before it was read');
    if (signal.aborted) return err(INTERRUPTED);
    const [{ name }] = call;
    // fail-closed: what an agent has no tool for is not read for it either.
    if (parts.other !== undefined && parts.other.resolve(name) === undefined) {
      return err(`there is no ${name} tool here`);
    }
    const answer = await outside(...call);
    // Whatever was asked about it then tells how it was cut off.
    return !answer.ok && signal.aborted ? err(INTERRUPTED) : answer;
  };
  const asked = await askedAgents(namedFiles(typed), { agents, pool, tell });
  const places = await mentionedPlaces(asked.others, { config, environment, tell });
  const files = await attachedFiles(places, {
    config,
    environment,
    read: pool.resolve('Read'),
    invoke,
    signal,
    tell,
  });
  const resources =
    mcp === undefined
      ? []
      : await import('./mcp-mentions.js').then(({ attachedResources }) =>
          attachedResources(environment, { log, mcp, typed, invoke, signal, tell }),
        );
  if (stop !== undefined) return { inputs: [], stop };
  // Only now is it sure that the main agent is shown it.
  if (trial !== undefined) {
    await trial.keep();
    for (const [path, version] of files.seen) toolRuntime.readState.note(path, version);
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
  const found = typed.texts.flatMap(fileMentions);
  const once = new Map(found.map((mention) => [mention.written, mention]));
  return [...once.values()].flatMap((mention) => {
    const meanings = mention.meanings.filter((meaning) => counts(keyOf(meaning)));
    return meanings.length === 0 ? [] : [{ ...mention, meanings }];
  });
}
