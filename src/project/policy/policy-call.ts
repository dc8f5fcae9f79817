import { TOOL_SCHEMAS } from '../../../build/generated/tool-schemas.js';
import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import { PRIMARY_INPUTS, RULE_TOOLS } from '../../permissions/rules/tools.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';

export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Parses a call as people write it: `Bash(git push)`, `Read src/x.ts`, `WebFetch https://x.example`,
 * or JSON, `{"tool":"Write","input":{…}}`.
 */
export function parseCall(text: string): ToolCall {
  const call = text.trim();
  if (call.startsWith('{')) return parseJsonCall(call);
  const [, tool, inside, after] = /^([A-Za-z_][\w-]*)(?:\s*\((.*)\)|\s+(.*))?$/s.exec(call) ?? [];
  if (tool === undefined) {
    throw new PortcullisError('usage', `"${text}" is not a call`, {
      remedy: `write 'Bash(git push)', 'Read src/x.ts' or '{"tool":"Write","input":{"file_path":"x"}}'`,
    });
  }
  return { tool, input: parseInput(tool, (inside ?? after ?? '').trim()) };
}

/** Formats a call in one line, as `parseCall` reads it. */
export function formatCall({ tool, input }: ToolCall): string {
  const field = mainField(tool);
  const value = field === undefined ? undefined : input[field];
  if (typeof value === 'string') return `${tool}(${value})`;
  return Object.keys(input).length === 0 ? tool : `${tool}(${JSON.stringify(input)})`;
}

/** The input that the parentheses of a rule for this tool are about. */
function mainField(tool: string): string | undefined {
  const name = own(TOOL_ALIASES, tool) ?? tool;
  const { properties = {} }: { properties?: object } = own(TOOL_SCHEMAS, name) ?? {};
  const primary = Object.keys(properties).find((property) => PRIMARY_INPUTS.has(property));
  return own(RULE_TOOLS, name)?.field ?? primary;
}

function parseInput(tool: string, text: string): ToolCall['input'] {
  if (text === '') return {};
  const parsed = text.startsWith('{') ? parseJson(text) : undefined;
  if (parsed?.ok === true && isRecord(parsed.value)) return parsed.value;
  const field = mainField(tool);
  if (field === undefined) {
    const meant = nearest(tool, Object.keys(TOOL_SCHEMAS));
    const hint = meant === undefined || meant === tool ? '' : `did you mean ${meant}? Otherwise `;
    throw new PortcullisError('usage', `it is not clear what "${text}" means to ${tool}`, {
      remedy: `${hint}give its input as JSON: ${tool}({"name":"value"})`,
    });
  }
  const [, host] = (field === 'url' && /^domain:(\S+)$/.exec(text)) || [];
  return { [field]: host === undefined ? text : `https://${host}/` };
}

function parseJsonCall(text: string): ToolCall {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new PortcullisError('usage', `the call is not valid JSON: ${parsed.error}`);
  const { tool, input = {} } = isRecord(parsed.value) ? parsed.value : {};
  if (typeof tool !== 'string' || tool === '' || !isRecord(input)) {
    throw new PortcullisError('usage', 'the call has no tool, or an input that is not an object', {
      remedy: 'write {"tool":"Write","input":{"file_path":"x"}}',
    });
  }
  return { tool, input };
}

/** The tool of this name. One of an MCP server need not exist: it is judged by its name. */
export function findTool(pool: ToolPool, name: string): AnyTool {
  const found = pool.resolve(name);
  if (found !== undefined) return found;
  if (name.startsWith('mcp__')) return absentTool(name);
  const near = pool.nearestName(name);
  throw new PortcullisError('usage', `there is no tool ${name}`, {
    remedy: near === undefined ? undefined : `did you mean ${near}?`,
  });
}

/** A placeholder for a tool that is not available, for code that needs only its name and input. */
export function absentTool(name: string): AnyTool {
  return {
    name,
    kind: 'network',
    definition: { name, description: '', input_schema: { type: 'object' } },
    validate: async () => [],
    subject: () => ({ paths: [], summary: name }),
    concurrencySafe: () => false,
    run: () => Promise.reject(new Error('a check runs no tool')),
  };
}

/** `reviewer` is a reviewer that the main agent started. */
export function parseAgent(name: string | undefined): AgentRef {
  if (name === undefined || name === MAIN_AGENT.path) return MAIN_AGENT;
  const path = name.includes('/') ? name : `main/${name.includes('#') ? name : `${name}#1`}`;
  const parts = path.split('/');
  return {
    // Has the form of agent ids, and no agent ever has it.
    id: `a${'0'.repeat(16)}`,
    type: (parts.at(-1) ?? path).replace(/#\d+$/, ''),
    path,
    depth: parts.length - 1,
    background: false,
  };
}
