import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import { type FileMention, fileMentions, keyOf } from '../../context/prompt/file-mentions.js';
import {
  mentionedPlaces,
  stillNames,
  type TypedText,
} from '../../context/prompt/mention-places.js';
import { reminder } from '../../context/prompt/reminders.js';
import { err } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import type { InputMessage } from '../../loop/types.js';
import { findMentions, type Mention, resolveMentions } from '../../mcp/resources/mentions.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import { join } from '../../platform/fs/paths.js';
import type { UserBlock } from '../../protocol/content.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import type { ToolPool } from '../../tools/pool.js';
import type { OpenAgents } from '../session-agents.js';
import { attachedFiles, INTERRUPTED } from './mentioned-files.js';
import { type OutsideInvoke, outsideInvoke, resourceReader } from './outside-calls.js';
import type { Parts } from './session-parts.js';

export interface MentionParts extends Parts {
  readonly config: SessionConfig;
  readonly environment: SessionEnvironment;
}

/** Messages added to a prompt for its mentions. */
export interface Beside {
  readonly inputs: readonly InputMessage[];
  /** Blocks the prompt, with the reason. */
  readonly stop?: string;
  /** The prompt begins with an unknown command. */
  readonly cause?: 'unknown_command';
}

/**
 * Resolves the `@` mentions of a person's prompt: agents, files, directories and server resources, all
 * read through the gate. `other` are the tools of another agent that gets the prompt; without it the
 * main agent does, and may then edit the files.
 */
export async function attachedTo(
  parts: MentionParts,
  typed: TypedText,
  { other, signal }: { readonly other?: ForkTools; readonly signal: AbortSignal },
): Promise<Beside> {
  const { config, environment, toolRuntime, instructions, log, mcp, agents, hooks } = parts;
  const { notes, tell } = hooks;
  const { book } = instructions;
  const trial = other === undefined ? book.onTrial() : undefined;
  const pool = other ?? toolRuntime.builtins.pool;
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
  const invoke: OutsideInvoke = async (tool, ...call) => {
    if (stop !== undefined) return err('the turn was stopped before it was read');
    if (signal.aborted) return err(INTERRUPTED);
    // fail-closed: files are not read for an agent that has no tool to read them.
    if (other !== undefined && other.resolve(tool.name) === undefined)
      return err(`there is no ${tool.name} tool here`);
    const answer = await outside(tool, ...call);
    // Reports the interruption instead of the answer to the question that it cut off.
    return !answer.ok && signal.aborted ? err(INTERRUPTED) : answer;
  };
  const asked = await askedAgents(namedFiles(typed), { agents, pool, tell });
  const places = await mentionedPlaces(asked.others, { config, environment, tell });
  const read = pool.resolve('Read');
  const files = await attachedFiles(places, { config, environment, read, invoke, signal, tell });
  const resources = mcp
    ? await attachedResources(environment, { log, mcp, typed, invoke, signal, tell })
    : [];
  if (stop !== undefined) return { inputs: [], stop };
  // Files count as read only now that the main agent is sure to be shown them.
  if (trial !== undefined) {
    await trial.keep();
    for (const [path, version] of files.seen) toolRuntime.calls.readState.note(path, version);
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

export interface ResourceMentionParts {
  readonly log: Pick<Log, 'history' | 'store'>;
  readonly mcp: Pick<OpenServersOfSession, 'connections'>;
  readonly typed: TypedText;
  readonly invoke: OutsideInvoke;
  readonly signal: AbortSignal;
  /** Shows a text to the person. */
  tell(text: string): void;
}

/** Reads the resources that a prompt names as `@server:uri`, through the gate like the model's calls. */
export async function attachedResources(
  { fs }: Pick<SessionEnvironment, 'fs'>,
  { log, mcp, typed, invoke, signal, tell }: ResourceMentionParts,
): Promise<readonly UserBlock[]> {
  const connections = mcp.connections();
  const names = connections.map(({ declaration }) => declaration.name);
  const counts = stillNames(typed, (text) => findMentions(text, names).map(mentionKey));
  const found = typed.texts.flatMap((text) => findMentions(text, names));
  const once = new Map(found.map((mention) => [mentionKey(mention), mention]));
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
  // One failure is enough after an interrupt.
  for (const failure of signal.aborted ? failures.slice(0, 1) : failures) tell(failure);
  return blocks.map(({ text }) => ({ type: 'text', text }));
}

function mentionKey({ server, uri }: Mention): string {
  return JSON.stringify([server, uri]);
}

/**
 * Finds agents mentioned as `@agent-name` or `@"name (agent)"`, which the model is told to start.
 * `others` are mentions that name no agent.
 */
async function askedAgents(
  mentions: readonly FileMention[],
  {
    agents,
    pool,
    tell,
  }: { agents: OpenAgents; pool: Pick<ToolPool, 'resolve'>; tell(text: string): void },
): Promise<{ blocks: readonly UserBlock[]; others: readonly FileMention[] }> {
  const texts = new Set<string>();
  const others: FileMention[] = [];
  for (const mention of mentions) {
    const name = agentIn(mention);
    const kind = name === undefined ? undefined : await agents.startable(name, pool);
    if (kind === undefined) others.push(mention);
    else if (kind.ok) {
      const type = visible(kind.value.name);
      texts.add(
        `The user asks for the agent ${type}. Start it with the Agent tool (subagent_type "${type}") and tell it all that it has to know.`,
      );
    } else {
      const failure = `${visible(mention.written)} cannot be started: ${kind.error}`;
      tell(failure);
      texts.add(failure);
    }
  }
  return { blocks: [...texts].map((text) => ({ type: 'text', text: reminder(text) })), others };
}

function agentIn({ meanings, isQuoted }: FileMention): string | undefined {
  const form = isQuoted ? /^(.+) \(agent\)$/ : /^agent-([\p{L}\p{N}_.:-]*[\p{L}\p{N}_-])$/u;
  return meanings.map(({ name }) => form.exec(name)?.[1]).find((name) => name !== undefined);
}
