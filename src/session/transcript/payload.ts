import { PortcullisError } from '../../errors.js';
import { isRecord } from '../../lib/own.js';
import { redactSureDeep } from '../../lib/text/redact.js';
import type { NewLine } from './store.js';

/** Structured tool output up to this many characters of JSON is stored in the transcript itself. */
export const MAX_INLINE_PAYLOAD = 256 * 1024;

/** Replaces structured tool output in the transcript that is too long for it. */
export interface PayloadRef {
  /** Relative to the session's directory. */
  readonly $ref: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The line as compact JSON without recognised secrets. Structured output that is too long is passed to
 * `spill`, which stores it and returns the reference; when that returns undefined, the output stays in
 * the line.
 */
export function serialiseLine(
  line: NewLine,
  spill: (json: string) => PayloadRef | undefined,
): string {
  const clean = cleanLine(line);
  const json = toJson(clean);
  const payload = clean.type === 'user' ? clean.toolUseResult : undefined;
  if (json !== undefined && (payload === undefined || json.length <= MAX_INLINE_PAYLOAD)) {
    return json;
  }
  const output = toJson(payload);
  if (output === undefined) return requireJson({ ...clean, toolUseResult: UNREPRESENTABLE });
  const ref = output.length <= MAX_INLINE_PAYLOAD ? undefined : spill(output);
  return requireJson(ref === undefined ? clean : { ...clean, toolUseResult: ref });
}

/** The line as an object without recognised secrets. */
export function cleanLine(line: NewLine): NewLine {
  return redactSureDeep(toJson(line) === undefined ? representable(line) : line) as NewLine;
}

/** Drops an output that is not JSON, because searching a cycle for secrets would not end. */
function representable(line: NewLine): object {
  const rest = { ...line, toolUseResult: UNREPRESENTABLE };
  requireJson(rest);
  const isPayloadJson = line.type === 'user' && toJson(line.toolUseResult) !== undefined;
  return isPayloadJson ? line : rest;
}

export function payloadFile(sha256: string): string {
  return `${PAYLOAD_DIRECTORY}/${sha256}.json`;
}

export const PAYLOAD_DIRECTORY = 'tool-results';

/** The reference if we wrote it; tool output that only looks like one is not. */
export function asPayloadRef(value: unknown): PayloadRef | undefined {
  if (!isRecord(value) || typeof value.$ref !== 'string') return undefined;
  const { $ref, bytes, sha256 } = value;
  if (typeof bytes !== 'number' || typeof sha256 !== 'string') return undefined;
  // fail-closed: only a name that we would have written ourselves is opened.
  if (!/^[0-9a-f]{64}$/.test(sha256) || $ref !== payloadFile(sha256)) return undefined;
  return { $ref, bytes, sha256 };
}

export function payloadLost(path: string, reason: string): PortcullisError {
  return new PortcullisError('session', `the stored tool output ${path} ${reason}`, {
    remedy: 'The conversation itself is whole; only this raw output cannot be shown.',
  });
}

const UNREPRESENTABLE = { unrepresentable: 'the output of the tool is not JSON' };

function requireJson(line: object): string {
  const json = toJson(line);
  if (json !== undefined) return json;
  throw new PortcullisError('internal', 'a transcript entry holds something that is not JSON');
}

/** Undefined for values that JSON cannot hold: cycles, big integers, text longer than a string may be. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The caller stores the line without the part that caused it.
    return undefined;
  }
}

/** The first line of an agent's transcript in the field names of other programs; undefined for other lines. */
export function agentFacts(line: NewLine): Readonly<Record<string, unknown>> | undefined {
  const attachment: unknown = 'attachment' in line ? line.attachment : undefined;
  if (!isRecord(attachment) || attachment.type !== 'agent_started') return undefined;
  const { agent, description } = attachment;
  if (!isRecord(agent)) return undefined;
  return {
    agentType: agent.type,
    description,
    toolUseId: typeof agent.spawnedBy === 'string' ? agent.spawnedBy : undefined,
    parentAgentId: agent.depth === 1 ? undefined : agent.parentId,
    spawnDepth: agent.depth,
  };
}
