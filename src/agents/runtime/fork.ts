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

/** Tools that only the main agent gets: questions to people, and changes of the session itself. */
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

/** The parts of a running agent's requests, which its forks send unchanged. */
export interface ConversationSnapshot {
  readonly system: readonly SystemBlock[];
  readonly pool: ToolPool;
  choice(): ModelChoice;
  limits(): ModelLimits;
  messages(): readonly Message[];
  readonly definition?: AgentDefinition;
}

const OPEN = '<fork-notice>';
const NOTICE = `${OPEN}\n${notice.trim()}\n</fork-notice>`;

/** The notice to a fork before its task, repeated after a summary. */
export const forkNotice = (): string => NOTICE;

/**
 * The result of the forking call and of those beside it, identical so that forks of one answer share a
 * cached prefix.
 */
const NO_RESULT =
  'Not known here: the agent that made this call goes on with it. You are a fork of it, and your task follows.';

/** The definition of a fork, with its original's restrictions; nothing is read from files. */
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
    // The original's hooks also guard its forks.
    hooks: original?.hooks,
    trusted: original?.trusted,
    file: original?.file,
  };
}

const DESCRIPTION =
  'A copy of you that knows all that was said so far and has your tools. For a side task that needs this context but whose details you do not: the prompt only says what to do. It runs on your model, and a fork cannot fork.';

/** Whether the agent is a fork or a descendant of one. */
function isOfFork({ path }: Pick<AgentRef, 'path'>): boolean {
  return path.split('/').some((step) => step.startsWith(`${FORK_TYPE}#`));
}

/**
 * Why this agent may not fork. Its path shows it within this process; the notice in the conversation shows
 * it in resumed and copied ones.
 */
export function forkRefusal(
  agent: Pick<AgentRef, 'path'>,
  messages: readonly Message[],
): string | undefined {
  if (!isOfFork(agent) && !messages.some(isMarked)) return undefined;
  return 'a fork cannot fork. Do the task yourself, with your own tools';
}

/** Only the start of a block counts, because results may contain any text. */
function isMarked({ role, content }: Message): boolean {
  return (
    role === 'user' && content.some((block) => block.type === 'text' && block.text.startsWith(OPEN))
  );
}

/**
 * The conversation that a fork starts from: up to the forking call, with a placeholder result for each call
 * of that answer.
 */
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
  // fail-closed: a fork without the conversation would guess.
  if (answer?.role !== 'assistant') return err('the conversation to be forked is not at hand');
  const results = answer.content
    .filter((block): block is ToolUseBlock => block.type === 'tool_use')
    .map(
      ({ id }): ToolResultBlock => ({ type: 'tool_result', tool_use_id: id, content: NO_RESULT }),
    );
  return ok([...messages.slice(0, at + 1), { role: 'user', content: results }]);
}

/** Refuses calls of tools that a fork has in its requests only because its original has them. */
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
