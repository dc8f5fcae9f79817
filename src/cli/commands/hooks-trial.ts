import { basename } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { HookEventName, Occasion } from '../../hooks/hook.js';
import { sampleCall } from '../../hooks/probe-samples.js';
import { sampleInput } from '../../hooks/sample-inputs.js';
import { namesOf } from '../../hooks/tool-occasion.js';
import { absoluteInput } from '../../permissions/absolute-input.js';
import { RULE_TOOLS } from '../../permissions/rule-tools.js';
import type { GateCall } from '../../permissions/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { isRecord } from '../../util/own.js';
import { visible } from '../../util/visible.js';
import type { Fields } from './hooks-payload.js';
import { agentNamed } from './policy-judge.js';

/** One thing that hooks are asked about. */
export interface Trial {
  readonly event: HookEventName;
  readonly occasion: Occasion;
  readonly mode: PermissionMode;
  /** Of events about a tool call. */
  readonly call?: GateCall;
  /** Where a session would not have come this far. */
  readonly notes: readonly string[];
}

export interface TrialWishes {
  readonly event: HookEventName;
  /** Laid over the sample. */
  readonly payload: Fields;
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
}

export interface TrialPlace {
  readonly pool: ToolPool;
  readonly workspace: Workspace;
  readonly mode: PermissionMode;
  readonly signal: AbortSignal;
  fits(about: {
    readonly call: GateCall;
    readonly mode: PermissionMode;
  }): (rule: string) => Promise<boolean>;
}

/** Makes an occasion of a sample and what is given in its place. */
export async function trialOf(wishes: TrialWishes, place: TrialPlace): Promise<Trial> {
  const { event, payload } = wishes;
  const { matches } = hookEventFacts(event);
  if (wishes.tool !== undefined && matches !== 'tool') {
    throw new PortcullisError('usage', `--tool: ${event} is not about a tool call`);
  }
  const mode = modeOf(payload) ?? place.mode;
  const cwd = typeof payload.cwd === 'string' ? payload.cwd : place.workspace.cwd;
  const fields = {
    ...sampleInput(event),
    ...toolFields(wishes, cwd),
    ...payload,
    ...(wishes.tool === undefined ? {} : { tool_name: wishes.tool }),
  };
  const agent = agentOf(wishes, fields);
  const scene = {
    agent,
    cwd,
    signal: place.signal,
    ...(CARRY_MODE.has(event) ? { mode } : {}),
  };
  if (matches !== 'tool') {
    const matched = matchedBy(event, fields);
    return { event, mode, occasion: { ...scene, matched, fields }, notes: [] };
  }
  const call = callOf(fields, { ...place, agent });
  const tool_input = absoluteInput(call);
  return {
    event,
    mode,
    call,
    occasion: {
      ...scene,
      matched: namesOf(call),
      fields: { ...fields, tool_name: call.tool.name, tool_input },
      toolUseId: call.toolUseId,
      fits: place.fits({ call, mode }),
    },
    notes: await doubts(event, call),
  };
}

/** Events that say in which mode the session is. */
const CARRY_MODE: ReadonlySet<HookEventName> = new Set<HookEventName>([
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'ToolInputInvalid',
  'Notification',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'TaskCreated',
  'TaskCompleted',
  'TeammateIdle',
]);

function modeOf({ permission_mode: given }: Fields): PermissionMode | undefined {
  if (given === undefined) return undefined;
  const mode = PERMISSION_MODES.find((known) => known === given);
  if (mode !== undefined) return mode;
  throw new PortcullisError('usage', `"${visible(String(given))}" is not a mode`, {
    remedy: `permission_mode is one of ${PERMISSION_MODES.join(', ')}`,
  });
}

/** A sample of the tool's own input, where the payload has none. */
function toolFields({ tool, payload, event }: TrialWishes, cwd: string): Fields {
  if (hookEventFacts(event).matches !== 'tool') return {};
  const name = tool ?? (typeof payload.tool_name === 'string' ? payload.tool_name : undefined);
  if (name === undefined) return {};
  if (name === sampleInput(event).tool_name || event === 'ToolInputInvalid') return {};
  return {
    tool_name: name,
    tool_input: sampleCall(name, cwd) ?? {},
    // Those of the sample are for its own tool.
    ...(event === 'PermissionRequest' ? { permission_suggestions: [] } : {}),
  };
}

/** Who acts: as asked for, as the payload says, or as the event is about. */
function agentOf({ agent, event }: TrialWishes, fields: Fields): AgentRef {
  if (agent !== undefined) return agentNamed(agent);
  const given = fields.agent;
  if (given !== undefined) {
    const path = isRecord(given) ? given.path : undefined;
    if (!isRecord(given) || typeof path !== 'string' || path === '') {
      throw new PortcullisError('usage', 'the agent of the payload has no path');
    }
    const named = agentNamed(path);
    return typeof given.id === 'string' ? { ...named, id: given.id } : named;
  }
  const isOfSubagent = event === 'SubagentStart' || event === 'SubagentStop';
  if (!isOfSubagent && fields.agent_id === undefined) return agentNamed(undefined);
  const type = typeof fields.agent_type === 'string' ? fields.agent_type : 'agent';
  return { ...agentNamed(type), id: String(fields.agent_id) };
}

/** What matchers are compared with. */
function matchedBy(event: HookEventName, fields: Fields): readonly string[] {
  const { matcherField } = hookEventFacts(event);
  if (matcherField === undefined) return [];
  const value = fields[matcherField];
  if (typeof value !== 'string' || value === '') {
    throw new PortcullisError('usage', `${event} needs a text in ${matcherField}`);
  }
  return [event === 'FileChanged' ? basename(value) : value];
}

function callOf(
  fields: Fields,
  place: Pick<TrialPlace, 'pool' | 'workspace' | 'signal'> & { readonly agent: AgentRef },
): GateCall {
  const { agent, workspace, signal } = place;
  const name = fields.tool_name;
  if (typeof name !== 'string' || name === '') {
    throw new PortcullisError('usage', 'tool_name must name a tool');
  }
  const tool = toolNamed(place.pool, name);
  const input = isRecord(fields.tool_input) ? fields.tool_input : {};
  const id = fields.tool_use_id;
  return {
    toolUseId: typeof id === 'string' ? id : 'toolu_sample',
    tool,
    input,
    subject: subjectOf(tool, input, workspace),
    agent,
    workspace,
    signal,
  };
}

/** Input that a tool cannot even name a subject for is still something that hooks can be shown. */
function subjectOf(tool: AnyTool, input: Fields, workspace: Workspace): GateCall['subject'] {
  try {
    return tool.subject(input, workspace);
  } catch {
    // The note on the input says that no session would have come this far.
    return { paths: [], summary: tool.name };
  }
}

function toolNamed(pool: ToolPool, name: string): AnyTool {
  const found = pool.resolve(name);
  if (found !== undefined) return found;
  if (name.startsWith('mcp__') || Object.hasOwn(RULE_TOOLS, name)) return absentTool(name);
  const near = pool.nearestName(name);
  throw new PortcullisError('usage', `there is no tool ${visible(name)}`, {
    ...(near === undefined ? {} : { remedy: `did you mean ${near}?` }),
  });
}

/** Hooks are shown its name and input, so that it need not be there. */
function absentTool(name: string): AnyTool {
  return {
    name,
    kind: 'network',
    definition: { name, description: '', input_schema: { type: 'object' } },
    validate: () => [],
    subject: () => ({ paths: [], summary: name }),
    concurrencySafe: () => false,
    run: () => Promise.reject(new Error('hooks are tested without running a tool')),
  };
}

async function doubts(event: HookEventName, { tool, input }: GateCall): Promise<readonly string[]> {
  if (event === 'ToolInputInvalid') return [];
  const problems = await tool.validate(input);
  if (problems.length === 0) return [];
  const words = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return [`a session shows no hook this input of ${tool.name}, as it is not valid: ${words}`];
}
