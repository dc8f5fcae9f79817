import { messageOf } from '../errors.js';
import type { HostChannel } from '../server/host-channel.js';
import type { AgentRegister } from './agent-register.js';
import { createAnswerMemory } from './answer-memory.js';
import { plainCopy } from './copy.js';
import type { HostServers } from './mcp-host.js';
import type {
  CanUseTool,
  CanUseToolOptions,
  HookCallback,
  OnElicitation,
  SDKControlRequestInner,
} from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** What the program gave to be called back. */
export interface HostCallbacks {
  readonly hooks: ReadonlyMap<string, HookCallback>;
  readonly canUseTool: CanUseTool | undefined;
  readonly onElicitation: OnElicitation | undefined;
}

export interface CallbackChannelDeps {
  readonly callbacks: HostCallbacks;
  readonly servers: HostServers;
  readonly agents: AgentRegister;
  sessionId(): string;
  now(): number;
}

/** Puts the questions of a session to the functions that the program gave. */
export interface CallbackChannel extends HostChannel {
  beginTurn(): void;
}

export function createCallbackChannel(deps: CallbackChannelDeps): CallbackChannel {
  const open = new Set<AbortController>();
  const memory = createAnswerMemory(deps.now);
  let counter = 0;
  let isOpen = true;
  return {
    async request(body, withdrawn) {
      withdrawn.throwIfAborted();
      if (!isOpen) throw new Error(ENDED);
      const controller = new AbortController();
      const { signal } = controller;
      const withdraw = (): void => controller.abort(withdrawn.reason);
      withdrawn.addEventListener('abort', withdraw);
      open.add(controller);
      try {
        // Copied both ways, as on a wire: what the program gets and gives is not what is judged.
        const shown = plainCopy(body) as Message;
        const asked = { signal, id: `portcullis-${++counter}` };
        const answer = handle({ memory, ...deps }, shown, asked);
        return plainCopy(await Promise.race([answer, abortion(signal)]));
      } catch (thrown) {
        throw signal.aborted ? signal.reason : new Error(messageOf(thrown));
      } finally {
        open.delete(controller);
        withdrawn.removeEventListener('abort', withdraw);
      }
    },
    // The program keeps its own list of what it is asked.
    open: () => [],
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      for (const controller of open) controller.abort(new Error(ENDED));
    },
    beginTurn: memory.beginTurn,
  };
}

const ENDED = 'the session has ended';

function abortion(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Handling extends CallbackChannelDeps {
  readonly memory: ReturnType<typeof createAnswerMemory>;
}

interface Asked {
  readonly signal: AbortSignal;
  readonly id: string;
}

type Question<Subtype extends string> = Extract<SDKControlRequestInner, { subtype: Subtype }>;

async function handle(deps: Handling, request: Message, asked: Asked): Promise<unknown> {
  // The session writes it as this type says.
  const question = request as unknown as SDKControlRequestInner;
  switch (question.subtype) {
    case 'can_use_tool':
      return await canUseTool(deps, question, asked);
    case 'hook_callback': {
      const { callback_id: id, input, tool_use_id: toolUseId } = question;
      const callback = deps.callbacks.hooks.get(id);
      if (callback === undefined) throw new Error(`No hook callback of the id ${id}`);
      const answer: unknown = await callback(input, toolUseId, { signal: asked.signal });
      // fail-closed: JSON writes NaN as null, which is no opinion.
      if (typeof answer === 'number') throw new TypeError('the answer is a number');
      return answer;
    }
    case 'mcp_message': {
      const reply = await deps.servers.dispatch(question.server_name, question.message);
      return { mcp_response: reply ?? { jsonrpc: '2.0', result: {}, id: 0 } };
    }
    case 'elicitation':
      return (await elicit(deps, question, asked)) ?? { action: 'decline' };
  }
}

async function elicit(
  { callbacks }: Handling,
  question: Question<'elicitation'>,
  { signal, id }: Asked,
): Promise<unknown> {
  return await callbacks.onElicitation?.(
    defined({
      serverName: question.mcp_server_name,
      message: question.message,
      mode: question.mode,
      url: question.url,
      elicitationId: question.elicitation_id,
      requestedSchema: question.requested_schema,
      displayName: question.display_name,
      description: question.description,
    }),
    { signal, requestId: id },
  );
}

async function canUseTool(
  deps: Handling,
  question: Question<'can_use_tool'>,
  asked: Asked,
): Promise<unknown> {
  const { callbacks, memory } = deps;
  if (callbacks.canUseTool === undefined) throw new Error('canUseTool callback is not provided.');
  const remembered = memory.recall(question);
  if (remembered !== undefined) return remembered;
  // The program may change what it was shown; what it answers to stays as it is.
  const input = plainCopy(question.input) as Record<string, unknown>;
  const context = contextOf(deps, question, asked);
  const answer = plainCopy(await callbacks.canUseTool(question.tool_name, input, context));
  // fail-closed: no other client could answer later, so silence is a no.
  if (answer === null || answer === undefined) throw new Error('canUseTool gave no answer');
  return memory.translate(question, answer);
}

function contextOf(
  deps: Handling,
  question: Question<'can_use_tool'>,
  { signal, id }: Asked,
): CanUseToolOptions {
  const rule = question.matched_ask_rule;
  return defined({
    signal,
    requestId: id,
    sessionId: deps.sessionId(),
    agent: deps.agents.find(question.agent_id),
    toolUseID: question.tool_use_id,
    suggestions: question.permission_suggestions,
    blockedPath: question.blocked_path,
    decisionReason: question.decision_reason,
    title: question.title,
    displayName: question.display_name,
    description: question.description,
    agentID: question.agent_id,
    mcpServer: question.mcp_server,
    matchedAskRule:
      rule &&
      defined({ source: rule.source, toolName: rule.tool_name, ruleContent: rule.rule_content }),
  });
}

/** Absent rather than undefined: programs ask with `in`, and print what they get. */
function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
