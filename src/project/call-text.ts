import { PortcullisError } from '../errors.js';
import { parseJson } from '../util/json.js';
import { nearest } from '../util/nearest.js';
import { isRecord } from '../util/own.js';

/** A call that nobody makes: a tool and its input. */
export interface DescribedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Reads a call as people write it: `Bash(git push)`, `Read src/x.ts`, `WebFetch https://x.example`,
 * or JSON, `{"tool":"Write","input":{…}}`.
 */
export function readCall(text: string): DescribedCall {
  const call = text.trim();
  if (call.startsWith('{')) return fromJson(call);
  const inside = /^([A-Za-z_][\w-]*)\s*\((.*)\)$/s.exec(call);
  const apart = /^([A-Za-z_][\w-]*)(?:\s+(.*))?$/s.exec(call);
  const tool = inside?.[1] ?? apart?.[1];
  if (tool === undefined) {
    throw new PortcullisError('usage', `"${text}" is not a call`, {
      remedy: `write 'Bash(git push)', 'Read src/x.ts' or '{"tool":"Write","input":{"file_path":"x"}}'`,
    });
  }
  return { tool, input: inputOf(tool, (inside?.[2] ?? apart?.[2] ?? '').trim()) };
}

/** A call in one line, the way `readCall` takes it. */
export function callText({ tool, input }: DescribedCall): string {
  const field = FIELDS.get(tool);
  const subject = field === undefined ? undefined : input[field];
  if (typeof subject === 'string') return `${tool}(${subject})`;
  return Object.keys(input).length === 0 ? tool : `${tool}(${JSON.stringify(input)})`;
}

/** What stands in the parentheses, by tool. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['Bash', 'command'],
  ['PowerShell', 'command'],
  ['Read', 'file_path'],
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Glob', 'path'],
  ['Grep', 'path'],
  ['WebFetch', 'url'],
  ['WebSearch', 'query'],
  ['Agent', 'subagent_type'],
  ['Task', 'subagent_type'],
  ['Skill', 'skill'],
]);

function inputOf(tool: string, spec: string): DescribedCall['input'] {
  if (spec === '') return {};
  if (spec.startsWith('{')) {
    const parsed = parseJson(spec);
    if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  }
  const field = FIELDS.get(tool);
  if (field === undefined) {
    const meant = nearest(tool, FIELDS.keys());
    throw new PortcullisError('usage', `it is not clear what "${spec}" means to ${tool}`, {
      remedy:
        meant === undefined
          ? `give its input as JSON: ${tool}({"name":"value"})`
          : `did you mean ${meant}? Otherwise give its input as JSON: ${tool}({"name":"value"})`,
    });
  }
  const host = tool === 'WebFetch' ? /^domain:(\S+)$/.exec(spec)?.[1] : undefined;
  return { [field]: host === undefined ? spec : `https://${host}/` };
}

function fromJson(text: string): DescribedCall {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new PortcullisError('usage', `the call is not valid JSON: ${parsed.error}`);
  const { tool, input = {} } = isRecord(parsed.value) ? parsed.value : {};
  if (typeof tool !== 'string' || tool === '' || !isRecord(input)) {
    throw new PortcullisError('usage', 'the call has no tool, or an input that is no object', {
      remedy: 'write {"tool":"Write","input":{"file_path":"x"}}',
    });
  }
  return { tool, input };
}
