import { messageOf } from '../errors.js';
import type { AgentSession, AskAnswer, AskRequest } from '../harness.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { isRecord } from '../util/own.js';
import { CONTRACT_VERSION } from './frames.js';
import type { Frame } from './wire.js';

export interface ControlDeps {
  write(frame: Frame): void;
  uuid(): string;
  session(): Promise<AgentSession> | undefined;
  open(initialize: Readonly<Record<string, unknown>>): Promise<AgentSession>;
  stillQueued(): readonly string[];
}

/** Both directions of the control channel. */
export interface HostRequests {
  /** A line from the host that is no prompt. */
  receive(message: Readonly<Record<string, unknown>>): void;
  /** Puts an ask to the host's callback. */
  ask(request: AskRequest): Promise<AskAnswer>;
  /** The host sends nothing any more: what waits for its answer gets none. */
  hangUp(): void;
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * Answers every control request exactly once. Requests of both directions may be in flight at the
 * same time; nothing here waits for a turn.
 */
export function createControl(deps: ControlDeps): HostRequests {
  const pending = new Map<string, { resolve(answer: Answer): void; reject(reason: Error): void }>();
  let counter = 0;
  let hungUp = false;

  const request = (body: Record<string, unknown>, signal: AbortSignal): Promise<Answer> => {
    const id = `portcullis-${++counter}`;
    if (hungUp) return Promise.reject(new Error(HUNG_UP));
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        pending.delete(id);
        deps.write({ type: 'control_cancel_request', request_id: id });
        reject(new Error('the question was withdrawn'));
      };
      pending.set(id, {
        resolve: (answer) => {
          signal.removeEventListener('abort', withdraw);
          resolve(answer);
        },
        reject: (reason) => {
          signal.removeEventListener('abort', withdraw);
          reject(reason);
        },
      });
      if (signal.aborted) return withdraw();
      signal.addEventListener('abort', withdraw, { once: true });
      deps.write({ type: 'control_request', request_id: id, request: body });
    });
  };

  const answer = (requestId: unknown, work: Promise<Answer>): void => {
    work.then(
      (response) =>
        deps.write({
          type: 'control_response',
          response: { subtype: 'success', request_id: requestId, response },
        }),
      (thrown) =>
        deps.write({
          type: 'control_response',
          response: {
            subtype: 'error',
            request_id: requestId,
            error: messageOf(thrown),
            ...(thrown instanceof ControlError ? { error_code: thrown.code } : {}),
          },
        }),
    );
  };

  return {
    receive(message) {
      if (message.type === 'control_request' && isRecord(message.request)) {
        answer(message.request_id, handle(deps, message.request));
      } else if (message.type === 'control_response' && isRecord(message.response)) {
        settle(pending, message.response);
      }
      // Kinds of messages that we do not know are ignored: newer clients may send them.
    },
    hangUp() {
      hungUp = true;
      for (const waiting of pending.values()) waiting.reject(new Error(HUNG_UP));
      pending.clear();
    },
    async ask(ask) {
      const session = await deps.session();
      session?.news({ type: 'state', state: 'requires_action' });
      try {
        const { call } = ask;
        const reply = await request(
          {
            subtype: 'can_use_tool',
            tool_name: call.tool.name,
            display_name: call.tool.name,
            input: call.input,
            tool_use_id: call.toolUseId,
            decision_reason: ask.reason,
            ...(ask.blockedPath === undefined ? {} : { blocked_path: ask.blockedPath }),
            ...(call.agent.depth === 0 ? {} : { agent_id: call.agent.id }),
            ...(call.tool.needsPerson === true ? { requires_user_interaction: true } : {}),
            permission_suggestions: suggestionsFor(ask),
          },
          call.signal,
        );
        return toAnswer(reply);
      } catch (thrown) {
        // fail-closed: a callback that fails or is withdrawn is a no.
        return {
          behavior: 'deny',
          message: `The permission callback failed: ${messageOf(thrown)}`,
        };
      } finally {
        session?.news({ type: 'state', state: 'running' });
      }
    },
  };
}

const HUNG_UP = 'the host closed its side before it answered';

class ControlError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function handle(
  deps: ControlDeps,
  request: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  switch (request.subtype) {
    case 'initialize': {
      const session = await deps.open(request);
      return {
        commands: [],
        agents: [],
        models: [],
        account: {},
        output_style: 'default',
        available_output_styles: ['default'],
        claude_code_version: CONTRACT_VERSION,
        current_permission_mode: session.info().mode,
        hook_on_failure_supported: true,
      };
    }
    case 'interrupt':
      (await deps.session())?.interrupt();
      return { still_queued: deps.stillQueued() };
    case 'set_permission_mode': {
      const mode = toMode(request.mode);
      (await deps.open({})).setMode(mode);
      return { mode };
    }
    case 'set_model': {
      const name =
        typeof request.model === 'string' && request.model !== 'default'
          ? request.model
          : undefined;
      return { model: (await deps.open({})).setModel(name) };
    }
    case 'mcp_status':
      return { mcpServers: [] };
    default:
      throw new ControlError(
        'unsupported_request',
        `Unsupported control request subtype: ${String(request.subtype)}`,
      );
  }
}

function toMode(mode: unknown): PermissionMode {
  const named = mode === 'manual' ? 'default' : mode;
  const known = PERMISSION_MODES.find((candidate) => candidate === named);
  if (known === undefined)
    throw new ControlError('invalid_mode', `unknown permission mode: ${String(mode)}`);
  return known;
}

function settle(
  pending: Map<string, { resolve(answer: Answer): void; reject(reason: Error): void }>,
  response: Readonly<Record<string, unknown>>,
): void {
  const id = String(response.request_id);
  const waiting = pending.get(id);
  if (waiting === undefined) return;
  pending.delete(id);
  if (response.subtype === 'success')
    waiting.resolve(isRecord(response.response) ? response.response : {});
  else waiting.reject(new Error(String(response.error ?? 'no reason given')));
}

/** fail-closed: anything but a well-formed allow is a no. */
function toAnswer(reply: Answer): AskAnswer {
  if (reply.behavior === 'allow') {
    if (reply.updatedInput === undefined || reply.updatedInput === null)
      return { behavior: 'allow' };
    if (isRecord(reply.updatedInput))
      return { behavior: 'allow', updatedInput: reply.updatedInput };
    return {
      behavior: 'deny',
      message: 'The permission callback answered with an updatedInput that is no object',
    };
  }
  if (reply.behavior !== 'deny') {
    return { behavior: 'deny', message: 'The permission callback gave no valid answer' };
  }
  const message =
    typeof reply.message === 'string' && reply.message !== '' ? reply.message : 'The user said no';
  return { behavior: 'deny', message, interrupt: reply.interrupt === true };
}

function suggestionsFor(ask: AskRequest): readonly unknown[] {
  if (ask.suggestion === undefined) return [];
  const match = /^([^()]+)(?:\((.*)\))?$/s.exec(ask.suggestion);
  if (match === null) return [];
  return [
    {
      type: 'addRules',
      rules: [{ toolName: match[1], ...(match[2] === undefined ? {} : { ruleContent: match[2] }) }],
      behavior: 'allow',
      destination: 'localSettings',
    },
  ];
}
