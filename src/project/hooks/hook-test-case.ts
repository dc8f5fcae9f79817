import { HOOK_SAMPLES } from '../../../build/generated/hook-samples.js';
import { PortcullisError } from '../../errors.js';
import { namesOf } from '../../hooks/dispatch/input.js';
import type { HookEventName } from '../../hooks/registry/hook.js';
import { sampleCall } from '../../hooks/testing/probe.js';
import { isRecord } from '../../lib/own.js';
import { visible } from '../../lib/text/visible.js';
import { absoluteInput } from '../../permissions/gate/precheck.js';
import type { GateCall } from '../../permissions/gate/types.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { basename } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import type { ToolPool } from '../../tools/pool.js';
import type { Workspace } from '../../tools/tool.js';
import { absentTool, findTool, parseAgent } from '../policy/policy-call.js';
import type { FitsCall, HookTestCase } from './hook-outcome-calls.js';

type Fields = Readonly<Record<string, unknown>>;

/** What hooks are to be asked about. */
export interface HookTest {
  readonly event: HookEventName;
  /** Fields that replace those of the sample. */
  readonly payload: Fields;
  readonly tool?: string | undefined;
  /** A type or a path. */
  readonly agent?: string | undefined;
}

export interface HookTestPlace {
  readonly fits: FitsCall;
  readonly pool: ToolPool;
  readonly workspace: Workspace;
  readonly mode: PermissionMode;
  readonly signal: AbortSignal;
}

/** Lays the payload of a test over the sample input of its event. */
export async function hookTestCase(test: HookTest, place: HookTestPlace): Promise<HookTestCase> {
  const { event, payload } = test;
  const { matches, matcherField } = hookEventFacts(event);
  if (test.tool !== undefined && matches !== 'tool') {
    throw usageError(`--tool: ${event} is not about a tool call`);
  }
  const mode = modeOf(payload) ?? place.mode;
  const cwd = typeof payload.cwd === 'string' ? payload.cwd : place.workspace.cwd;
  const fields: Fields = { ...sampleFields(test, cwd), ...payload };
  const agent = agentOf(test, fields);
  const scene = { agent, cwd, signal: place.signal, mode };
  if (matches !== 'tool') {
    const value = matcherField === undefined ? undefined : fields[matcherField];
    if (matcherField !== undefined && (typeof value !== 'string' || value === '')) {
      throw usageError(`${event} needs a text in ${matcherField}`);
    }
    const text = event === 'FileChanged' ? basename(String(value)) : String(value);
    const matched = matcherField === undefined ? [] : [text];
    return { mode, occasion: { ...scene, matched, fields }, notes: [] };
  }
  const call = callOf({ ...fields, tool_name: test.tool ?? fields.tool_name }, agent, place);
  return {
    mode,
    call,
    occasion: {
      ...scene,
      matched: namesOf(call),
      fields: { ...fields, tool_name: call.tool.name, tool_input: absoluteInput(call) },
      toolUseId: call.toolUseId,
      fits: place.fits({ call, mode }),
    },
    notes: event === 'ToolInputInvalid' ? [] : await inputProblems(call),
  };
}

function modeOf({ permission_mode: given }: Fields): PermissionMode | undefined {
  const mode = PERMISSION_MODES.find((known) => known === given);
  if (mode !== undefined || given === undefined) return mode;
  throw usageError(
    `"${visible(String(given))}" is not a mode`,
    `permission_mode is one of ${PERMISSION_MODES.join(', ')}`,
  );
}

/** The sample of the event; where another tool is named, with a sample input of that tool. */
function sampleFields({ tool, payload, event }: HookTest, cwd: string): Fields {
  const sample = HOOK_SAMPLES[event];
  const name = tool ?? payload.tool_name;
  const isOther = hookEventFacts(event).matches === 'tool' && name !== sample.tool_name;
  if (typeof name !== 'string' || !isOther || event === 'ToolInputInvalid') return sample;
  const input = { tool_name: name, tool_input: sampleCall(name, cwd) ?? {} };
  // The suggestions of the sample are for its own tool.
  const suggestions = event === 'PermissionRequest' ? { permission_suggestions: [] } : {};
  return { ...sample, ...input, ...suggestions };
}

/** Who acts: as asked for, as the payload says, or as the event is about. */
function agentOf({ agent, event }: HookTest, fields: Fields): AgentRef {
  const { agent: given, agent_id: id, agent_type: type } = fields;
  if (agent !== undefined) return parseAgent(agent);
  if (given !== undefined) {
    if (!isRecord(given) || typeof given.path !== 'string' || given.path === '') {
      throw usageError('the agent of the payload has no path');
    }
    const named = parseAgent(given.path);
    return typeof given.id === 'string' ? { ...named, id: given.id } : named;
  }
  const isOfSubagent = event === 'SubagentStart' || event === 'SubagentStop';
  if (!isOfSubagent && id === undefined) return parseAgent(undefined);
  return { ...parseAgent(typeof type === 'string' ? type : 'agent'), id: String(id) };
}

function callOf(fields: Fields, agent: AgentRef, place: HookTestPlace): GateCall {
  const { tool_name: name, tool_input, tool_use_id: id } = fields;
  const { pool, workspace, signal } = place;
  if (typeof name !== 'string' || name === '') throw usageError('tool_name must name a tool');
  const isForeign = pool.resolve(name) === undefined && Object.hasOwn(RULE_TOOLS, name);
  const tool = isForeign ? absentTool(name) : findTool(pool, name);
  const input = isRecord(tool_input) ? tool_input : {};
  let subject: GateCall['subject'] = { paths: [], summary: tool.name };
  try {
    subject = tool.subject(input, workspace);
  } catch {
    // A note on the input says that no session would have come this far.
  }
  const toolUseId = typeof id === 'string' ? id : 'toolu_sample';
  return { toolUseId, tool, input, subject, agent, workspace, signal };
}

async function inputProblems({ tool, input }: GateCall): Promise<readonly string[]> {
  const problems = await tool.validate(input);
  if (problems.length === 0) return [];
  const words = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return [`a session shows no hook this input of ${tool.name}, as it is not valid: ${words}`];
}

function usageError(message: string, remedy?: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy });
}
