import { errorName, type SessionInfo, type SessionNews } from '../app.js';
import type { AgentEvent } from '../client/events.js';
import { VERSION } from '../version.js';
import { CONTRACT_VERSION } from './contract-version.js';
import { mirrorFrames } from './mirror-frames.js';
import { childFrames, createTaskFrames, inboxFields, toolUseResult } from './task-frames.js';
import type { Frame, SystemArgs } from './wire.js';

export interface FrameOptions {
  readonly sessionId: () => string;
  readonly partialMessages: boolean;
  readonly replayPrompts: boolean;
  /** Emit `session_state_changed`; the official TypeScript client asks for it. */
  readonly stateChanges: boolean;
  /** Emit receipts as `decision` frames. */
  readonly decisions: boolean;
  /** Emit the start and end of every hook, not only of those that run before the first prompt. */
  readonly hookEvents: boolean;
  /** Whether what agents say is sent too, and not only what they do. Absent: it is not. */
  readonly agentTexts?: () => boolean;
  /** The longest frame, in bytes, that the host can read. Absent: any. */
  readonly frameLimit?: number;
  uuid(): string;
}

/** The events that hosts see as frames of their own. */
export type WireEvent = AgentEvent | SessionNews;

/** Turns the events of a session into the frames that its host reads. */
export function createFramer(options: FrameOptions): (event: WireEvent) => readonly Frame[] {
  let retracted: string[] = [];
  let open: string[] = [];
  const tasks = createTaskFrames();
  const system = (...[subtype, fields]: SystemArgs): Frame => ({
    type: 'system',
    subtype,
    ...fields,
    uuid: options.uuid(),
    session_id: options.sessionId(),
  });
  const assistant = (event: Extract<AgentEvent, { type: 'block' }>): Frame => {
    const supersedes = retracted;
    retracted = [];
    return {
      type: 'assistant',
      message: {
        id: event.answerId,
        type: 'message',
        role: 'assistant',
        model: event.model,
        content: [event.block],
        stop_reason: null,
        stop_sequence: null,
        usage: event.usage,
      },
      parent_tool_use_id: null,
      ...(supersedes.length === 0 ? {} : { supersedes }),
      uuid: event.uuid,
      session_id: options.sessionId(),
    };
  };
  return (event) => {
    switch (event.type) {
      case 'stream':
        if (!options.partialMessages) return NOTHING;
        return [
          {
            type: 'stream_event',
            event: event.event,
            parent_tool_use_id: null,
            uuid: options.uuid(),
            session_id: options.sessionId(),
          },
        ];
      case 'requesting':
        return options.partialMessages ? [system('status', { status: 'requesting' })] : NOTHING;
      case 'block':
        // Without partial messages nothing leaves before the answer is whole, so nothing is ever taken back.
        if (!options.partialMessages) return NOTHING;
        open.push(event.uuid);
        return [assistant(event)];
      case 'answer': {
        open = [];
        if (options.partialMessages) return [];
        const { answer } = event;
        return answer.message.content.map((block, index) =>
          assistant({
            type: 'block',
            block,
            uuid: answer.blockIds[index] ?? options.uuid(),
            answerId: answer.id,
            model: answer.model,
            usage: answer.usage,
          }),
        );
      }
      case 'retry': {
        retracted = [...retracted, ...open];
        open = [];
        const { failure } = event.event;
        if (event.event.type === 'fallback') {
          return [
            system('informational', {
              level: 'warning',
              content: `${event.event.from} is not available (${failure.message}); going on with ${event.event.to}`,
            }),
          ];
        }
        return [
          system('api_retry', {
            attempt: event.event.attempt,
            max_retries: event.event.maxRetries,
            retry_delay_ms: event.event.delayMs,
            error_status: failure.status ?? null,
            error: errorName(failure),
            // An attempt that failed so is repeated with the same patience.
            ...(failure.waitedMs !== undefined && {
              no_response: { waited_ms: failure.waitedMs, retry_wait_ms: failure.waitedMs },
            }),
          }),
        ];
      }
      case 'tool_result':
        return [
          {
            type: 'user',
            message: { role: 'user', content: [event.result.block] },
            parent_tool_use_id: null,
            ...toolUseResult(event.result),
            uuid: event.result.uuid,
            session_id: options.sessionId(),
          },
        ];
      case 'input':
        // What the runtime itself adds is for the model; hosts see what people said.
        if (event.message.meta === true) return [];
        if (isInterruption(event.message)) return [userFrame(options, event.message, {})];
        return options.replayPrompts ? [userFrame(options, event.message, { isReplay: true })] : [];
      case 'child':
        return childFrames(event, options);
      default:
        return newsFrames(event, options, { system, tasks });
    }
  };
}

const NOTHING: readonly Frame[] = [];

/** Hosts show what happens before the first answer. */
const ALWAYS_TOLD: ReadonlySet<string> = new Set(['SessionStart', 'Setup']);

function hookFrame(
  event: Extract<SessionNews, { type: 'hook_started' | 'hook_finished' }>,
): SystemArgs {
  const common = { hook_id: event.hookId, hook_name: event.name, hook_event: event.event };
  if (event.type === 'hook_started') return ['hook_started', common];
  const { stdout, stderr, outcome, exitCode } = event;
  const output = { stdout, stderr, output: stdout === '' ? stderr : stdout, outcome };
  return ['hook_response', { ...common, ...output, exit_code: exitCode }];
}

function newsFrames(
  event: SessionNews,
  options: FrameOptions,
  {
    system,
    tasks,
  }: {
    readonly system: (...told: SystemArgs) => Frame;
    readonly tasks: ReturnType<typeof createTaskFrames>;
  },
): readonly Frame[] {
  switch (event.type) {
    case 'state':
      return options.stateChanges
        ? [system('session_state_changed', { state: event.state, sdk_host_only: true })]
        : [];
    case 'hook_started':
    case 'hook_finished':
      return options.hookEvents || ALWAYS_TOLD.has(event.event)
        ? [system(...hookFrame(event))]
        : [];
    case 'decision':
      return options.decisions ? [system('decision', { receipt: event.receipt })] : [];
    case 'denied':
      return [
        system('permission_denied', {
          tool_name: event.denial.tool_name,
          tool_use_id: event.denial.tool_use_id,
          message: event.message,
          agent_id: event.agent?.id,
          decision_reason: event.denial.reason,
        }),
      ];
    case 'compacting':
      return [system('status', { status: 'compacting' })];
    case 'compacted':
      return [
        system('status', { status: null, compact_result: 'success' }),
        {
          type: 'system',
          subtype: 'compact_boundary',
          compact_metadata: {
            trigger: event.trigger,
            pre_tokens: event.preTokens,
            post_tokens: event.postTokens,
            duration_ms: event.durationMs,
          },
          uuid: event.uuid,
          session_id: options.sessionId(),
        },
        {
          type: 'user',
          message: { role: 'user', content: [{ type: 'text', text: event.summary }] },
          parent_tool_use_id: null,
          isSynthetic: true,
          uuid: event.summaryUuid,
          session_id: options.sessionId(),
        },
      ];
    case 'compaction_failed':
      return [
        system('status', { status: null, compact_result: 'failed', compact_error: event.reason }),
      ];
    case 'notice':
      return [
        system('informational', {
          content: event.text,
          level: event.level,
          tag: event.tag,
          ...(event.tag === 'prompt_blocked' ? { prevent_continuation: true } : {}),
        }),
      ];
    case 'config_changed':
      return [
        system('informational', {
          level: 'info',
          content: `Settings changed and are in force: ${event.files.join(', ')}`,
        }),
      ];
    case 'mode':
      return [system('status', { status: null, permissionMode: event.mode })];
    case 'transcript':
      return mirrorFrames(event, options);
    case 'writes_lost':
      return [
        system('session_writes_lost', {
          error_code: event.code,
          lost: ['transcript'],
          lines: event.lost,
        }),
      ];
    case 'progress':
      return [];
    case 'inbox':
      return [system('inbox', inboxFields(event))];
    case 'task_started':
    case 'task_progress':
    case 'task_updated':
    case 'task_finished':
    case 'background_tasks':
      return tasks(event).map((told) => system(...told));
  }
}

/** What is there to be used besides tools, by name. */
export interface InitNames {
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
}

const NO_NAMES: InitNames = { commands: [], skills: [], agents: [] };

/** Sent at the start of every turn. */
export function initFrame(info: SessionInfo, uuid: string, names: InitNames = NO_NAMES): Frame {
  return {
    type: 'system',
    subtype: 'init',
    cwd: info.cwd,
    session_id: info.sessionId,
    tools: info.tools.map((name) => OLD_NAMES.get(name) ?? name),
    mcp_servers: info.mcpServers,
    model: info.model,
    permissionMode: info.mode,
    slash_commands: names.commands,
    apiKeySource: info.keySource,
    // Clients read this as the version of the contract; our own version is in `portcullis_version`.
    claude_code_version: CONTRACT_VERSION,
    portcullis_version: VERSION,
    output_style: info.outputStyle,
    agents: names.agents,
    skills: names.skills,
    plugins: info.plugins,
    capabilities: CAPABILITIES,
    additional_directories: info.additionalDirectories,
    memory_paths: info.memoryPaths,
    uuid,
  };
}

/** Hosts look for a tool under the name that it had first. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([['Agent', 'Task']]);

/** What this runtime does beyond the plain contract. */
export const CAPABILITIES: readonly string[] = [
  'interrupt_receipt_v1',
  'interrupt_cancel_queued_v1',
  'msg_lifecycle_v1',
  'mcp_read_resource_v1',
  'mcp_call_check_permissions_v1',
  'sdk_mcp_manifests',
  'sdk_mcp_tools_list_changed',
];

/** What the runtime leaves in the conversation where it was interrupted; hosts look for it. */
function isInterruption({ content }: Extract<AgentEvent, { type: 'input' }>['message']): boolean {
  const [only, ...others] = content;
  return (
    others.length === 0 && only?.type === 'text' && only.text.startsWith('[Request interrupted by')
  );
}

function userFrame(
  options: FrameOptions,
  message: Extract<AgentEvent, { type: 'input' }>['message'],
  flags: Record<string, unknown>,
): Frame {
  return {
    type: 'user',
    message: { role: 'user', content: message.content },
    parent_tool_use_id: null,
    ...flags,
    uuid: message.uuid,
    session_id: options.sessionId(),
  };
}
