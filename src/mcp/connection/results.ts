import { MAX_JSON_DEPTH } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type {
  RawCallResult,
  RawContent,
  RawPrompt,
  RawPromptMessage,
  RawResource,
  RawResourceContent,
  RawTool,
} from '../server.js';

/** A schema that accepts everything: the readers below validate the results. */
export const AS_IT_IS = {
  '~standard': {
    version: 1,
    vendor: 'portcullis',
    validate: (value: unknown) => ({ value }),
  },
} as const;

/** Undefined for a result that violates the protocol. */
export function readCallResult(value: unknown): RawCallResult | undefined {
  if (!isRecord(value)) return undefined;
  const content = value.content ?? [];
  // fail-closed: a result with other fields but no content (a task, a question) is not an empty result.
  const isElsewhere = value.content === undefined && value.structuredContent === undefined;
  if (isElsewhere && Object.keys(value).some((key) => !WITHOUT_CONTENT.has(key))) return undefined;
  if ((value.resultType ?? 'complete') !== 'complete') return undefined;
  if (!Array.isArray(content) || !content.every(isContent)) return undefined;
  const isError = value.isError === true || undefined;
  return {
    content,
    structuredContent: value.structuredContent,
    isError,
    _meta: record(value._meta),
  };
}

const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['_meta', 'isError', 'resultType']);

function isContent(value: unknown): value is RawContent {
  return isRecord(value) && typeof value.type === 'string';
}

export function readTool(value: unknown): RawTool | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  if (!isRecord(value.inputSchema)) return undefined;
  return {
    name: value.name,
    inputSchema: value.inputSchema,
    title: text(value.title),
    description: text(value.description),
    outputSchema: record(value.outputSchema),
    annotations: record(value.annotations),
    _meta: record(value._meta),
  };
}

export function readResource(value: unknown): RawResource | undefined {
  if (!isRecord(value) || typeof value.uri !== 'string') return undefined;
  return {
    uri: value.uri,
    name: text(value.name) ?? value.uri,
    title: text(value.title),
    description: text(value.description),
    mimeType: text(value.mimeType),
    size: typeof value.size === 'number' ? value.size : undefined,
  };
}

export function readPrompt(value: unknown): RawPrompt | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  const given = Array.isArray(value.arguments) ? value.arguments : [];
  const args = given
    .filter(isRecord)
    .flatMap(({ name, description, required }) =>
      typeof name === 'string'
        ? [{ name, description: text(description), required: required === true || undefined }]
        : [],
    );
  const { name, title, description } = value;
  return { name, title: text(title), description: text(description), arguments: args };
}

export function readContents(value: unknown): readonly RawResourceContent[] | undefined {
  if (!isRecord(value) || !Array.isArray(value.contents)) return undefined;
  const contents: RawResourceContent[] = [];
  for (const item of value.contents) {
    if (!isRecord(item) || typeof item.uri !== 'string') return undefined;
    const { uri, mimeType, blob } = item;
    contents.push({ uri, mimeType: text(mimeType), text: text(item.text), blob: text(blob) });
  }
  return contents;
}

export function readMessages(value: unknown): readonly RawPromptMessage[] | undefined {
  if (!isRecord(value) || !Array.isArray(value.messages)) return undefined;
  const messages: RawPromptMessage[] = [];
  for (const item of value.messages) {
    if (!isRecord(item) || !isContent(item.content)) return undefined;
    if (item.role !== 'user' && item.role !== 'assistant') return undefined;
    messages.push({ role: item.role, content: item.content });
  }
  return messages;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/**
 * Whether a value from the library's own parser can be serialised without overflowing the stack and merged
 * without a `__proto__` key; other transports check the text.
 */
export function isSafeValue(value: unknown, levels: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0 || Object.hasOwn(value, '__proto__')) return false;
  // A loop, because collecting all values of a level would double the memory.
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (!isSafeValue(inner, levels - 1)) return false;
  }
  return true;
}
