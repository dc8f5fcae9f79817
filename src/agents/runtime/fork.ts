import { err, ok, type Result } from '../../lib/result.js';
import type { SystemBlock } from '../../model/client.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import { sha256 } from '../../platform/hash.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { Message, ToolResultBlock, ToolUseBlock } from '../../protocol/content.js';
import type { ToolPool } from '../../tools/pool.js';
import type { ModelChoice } from '../core/agent.js';
import type { ModelLimits } from '../core/model-choice.js';
import { type AgentDefinition, DEFAULT_FIELDS } from '../definitions/definition.js';
import notice from './fork-notice.md';

export const FORK_TYPE = 'fork';

/** What no agent gets that works for another one: questions to people, and what ends or plans a session. */
export const MAIN_ONLY: readonly string[] = [
  'AskUserQuestion',
  'EndConversation',
  'EnterPlanMode',
  'ExitPlanMode',
  'ScheduleWakeup',
  'StructuredOutput',
  'WaitForMcpServers',
  'Workflow',
];

/** Whatever makes up the requests of an agent that runs: a fork of it sends the same bytes. */
export interface ConversationSnapshot {
  readonly system: readonly SystemBlock[];
  readonly pool: ToolPool;
  choice(): ModelChoice;
  limits(): ModelLimits;
  messages(): readonly Message[];
  /** What the agent is; absent for a main agent that is nothing special. */
  readonly definition?: AgentDefinition;
}

const OPEN = '<fork-notice>';
const NOTICE = `${OPEN}\n${notice.trim()}\n</fork-notice>`;

/** What a fork is told, in front of its task and again after a summary. */
export const forkNotice = (): string => NOTICE;

/** Said of the call that makes the fork and of those beside it: the same for each, so that forks of one answer share more. */
const NO_RESULT =
  'Not known here: the agent that made this call goes on with it. You are a fork of it, and your task follows.';

/**
 * A fork is its original again: it keeps to what that one keeps to. Nothing of it is read from files.
 */
export function forkDefinition(original?: AgentDefinition): AgentDefinition {
  return {
    name: FORK_TYPE,
    description: DESCRIPTION,
    prompt: async () => '',
    ...DEFAULT_FIELDS,
    omitInstructions: original?.omitInstructions ?? false,
    asks: original?.asks ?? 'bubble',
    source: original?.source ?? 'builtin',
    contentHash: () => sha256(JSON.stringify([FORK_TYPE, DESCRIPTION])),
    // Guards of the original's file hold for whoever acts in its place.
    hooks: original?.hooks,
    trusted: original?.trusted,
    file: original?.file,
  };
}

const DESCRIPTION =
  'A copy of you that knows all that was said so far and has your tools. For a side task that needs this context but whose details you do not: the prompt only says what to do. It runs on your model, and a fork cannot fork.';

/** Whether the agent is a fork, or works for one. */
export function isOfFork({ path }: Pick<AgentRef, 'path'>): boolean {
  return path.split('/').some((step) => step.startsWith(`${FORK_TYPE}#`));
}

/**
 * Why this agent must not fork. Lineage tells it for agents of this run; the mark in the conversation
 * does so wherever that conversation is gone on with.
 */
export function forkRefusal(
  agent: Pick<AgentRef, 'path'>,
  messages: readonly Message[],
): string | undefined {
  if (!isOfFork(agent) && !messages.some(isMarked)) return undefined;
  return 'a fork cannot fork. Do the task yourself, with your own tools';
}

/** Only what the runtime said counts: in a result the words may be anybody's. */
function isMarked({ role, content }: Message): boolean {
  return (
    role === 'user' && content.some((block) => block.type === 'text' && block.text.startsWith(OPEN))
  );
}

/** The conversation that a fork starts from: up to the call that makes it, with a result for each call beside it. */
export function forkedTalk(
  messages: readonly Message[],
  toolUseId: string,
): Result<readonly Message[], string> {
  const at = messages.findLastIndex(
    ({ role, content }) =>
      role === 'assistant' &&
      content.some((block) => block.type === 'tool_use' && block.id === toolUseId),
  );
  const answer = messages[at];
  // fail-closed: a fork that does not know what it is a fork of would guess.
  if (answer?.role !== 'assistant') return err('the conversation to be forked is not at hand');
  const results = answer.content
    .filter((block): block is ToolUseBlock => block.type === 'tool_use')
    .map(
      ({ id }): ToolResultBlock => ({ type: 'tool_result', tool_use_id: id, content: NO_RESULT }),
    );
  return ok([...messages.slice(0, at + 1), { role: 'user', content: results }]);
}

/** A fork has the tools of the main agent in its requests; what is the main agent's alone it cannot call. */
export const forkGuard: Guard = {
  name: 'forks',
  onFailure: 'deny',
  async decide({ call }): Promise<Finding> {
    if (!MAIN_ONLY.includes(call.tool.name) || !isOfFork(call.agent)) return NOTHING;
    return {
      decision: 'deny',
      reason: `${call.tool.name} is for the agent that a person talks to, not for a fork of it`,
    };
  },
};
