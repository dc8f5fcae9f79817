import { isRecord } from '../../lib/own.js';
import type { Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { failure } from '../../tools/output.js';
import type {
  AnyTool,
  Tool,
  ToolContext,
  ToolOrigin,
  ToolOutput,
  ValidationProblem,
} from '../../tools/tool.js';
import type { McpConnection, RawTool, SafeError } from '../server.js';
import { checkDefinition, definitionOf } from './definition-check.js';
import type { ListedTool } from './listing.js';
import { shownName, toolNames } from './names.js';
import { type OutputParts, presentOutput, toolOutput } from './output.js';

export interface Admission {
  /** Tells the model about a changed and accepted definition. */
  readonly note?: string;
}

/** The state that the tools of a server share; tools go by the server's names. */
export interface McpToolParts extends Pick<OutputParts, 'fs' | 'env' | 'tell'> {
  readonly connection: Pick<McpConnection, 'call' | 'declaration'>;
  /** The approved definition while a changed one waits for approval. */
  definition(tool: string): Result<RawTool, string>;
  /** The last check before a call is sent: it must have been judged by the present definition. */
  admit(tool: string, toolUseId: string): Promise<Result<Admission, string>>;
}

type Input = Readonly<Record<string, unknown>>;

const SUMMARY_CHARS = 240;
const PROGRESS_CHARS = 500;

/** Wraps a server's tool as a `Tool`. */
export function mcpTool(
  parts: McpToolParts,
  listed: Pick<ListedTool, 'name' | 'alwaysLoad'>,
): Tool<Input> {
  const { name: server, key, scope, entry } = parts.connection.declaration;
  const { name, long } = toolNames(key, listed.name);
  const origin: ToolOrigin = {
    server,
    key,
    source: entry?.type === 'sdk' ? 'sdk' : scope,
    ...(scope === 'agent' ? { ofAgent: true as const } : {}),
    tool: listed.name,
    alwaysLoad: listed.alwaysLoad || entry?.alwaysLoad === true,
  };
  let about: About | undefined;
  /** Built once on demand, because the bytes sent to the model must not change. */
  const said = (): About => {
    about ??= describe(name, origin, parts);
    return about;
  };
  return {
    name,
    ...(long !== undefined && { aliases: [long] }),
    // The strictest kind, because the effects are unknown.
    kind: 'execute',
    origin,
    get title() {
      return said().title;
    },
    get definition() {
      return said().definition;
    },
    get needsPerson() {
      return said().needsPerson;
    },
    /** The server validates its own schema. */
    async validate(input): Promise<readonly ValidationProblem[]> {
      return isRecord(input) ? [] : [{ path: '', message: 'the arguments are not an object' }];
    },
    subject: (input) => ({ paths: [], summary: summaryOf(origin, input) }),
    /** A hint of the server that affects only the order of calls, never permissions. */
    concurrencySafe: () => said().readOnly,
    run: (input, context) => run(parts, { name, tool: listed.name, input }, context),
    present: presentOutput,
  };
}

async function run(
  parts: McpToolParts,
  { name, tool, input }: { readonly name: string; readonly tool: string; readonly input: Input },
  context: ToolContext,
): Promise<ToolOutput> {
  const admitted = await parts.admit(tool, context.toolUseId);
  if (!admitted.ok) return failure(admitted.error);
  const { connection, fs, env } = parts;
  const result = await connection.call(
    {
      tool,
      // In-process code receives this object and might modify it.
      arguments: connection.declaration.entry?.type === 'sdk' ? structuredClone(input) : input,
      toolUseId: context.toolUseId,
      idempotencyKey: context.idempotencyKey,
      onProgress: (text) => context.progress(visible(sliceWhole(text, 0, PROGRESS_CHARS))),
    },
    context.signal,
  );
  if (!result.ok) return failure(failureText(result.error));
  const known = parts.definition(tool);
  const raw = known.ok ? known.value : {};
  const tell = (text: string): void => parts.tell?.(text);
  const output = await toolOutput(result.value, { fs, env, context, tool: name, raw, tell });
  const { note } = admitted.value;
  return note === undefined ? output : { ...output, followUp: [{ text: note }] };
}

interface About {
  readonly title: string;
  readonly definition: AnyTool['definition'];
  readonly needsPerson: boolean;
  readonly readOnly: boolean;
}

function describe(name: string, { tool, server }: ToolOrigin, parts: McpToolParts): About {
  const raw = parts.definition(tool);
  const checked = raw.ok ? checkDefinition(raw.value) : raw;
  if (!raw.ok || !checked.ok) {
    const why = checked.ok ? '' : checked.error;
    const description = `Its definition cannot be shown: ${why}`;
    return {
      title: name,
      definition: { name, description, input_schema: { type: 'object' } },
      // fail-closed: without a definition its hints are unknown.
      needsPerson: true,
      readOnly: false,
    };
  }
  const { annotations, _meta } = raw.value;
  return {
    title: checked.value.title ?? `${shownName(tool)} of ${shownName(server)}`,
    definition: definitionOf(name, checked.value),
    needsPerson: isRecord(_meta) && _meta['anthropic/requiresUserInteraction'] === true,
    readOnly: isRecord(annotations) && annotations.readOnlyHint === true,
  };
}

/** Server, tool and input in one line. */
function summaryOf({ server, tool }: ToolOrigin, input: unknown): string {
  const text = `${shownName(tool)} of the MCP server ${shownName(server)} with ${visible(JSON.stringify(input) ?? '')}`;
  return text.length <= SUMMARY_CHARS ? text : `${sliceWhole(text, 0, SUMMARY_CHARS)}…`;
}

function failureText({ message, mayHaveRun }: SafeError): string {
  return mayHaveRun
    ? `${message} The call may have had its effect already: look before you repeat it.`
    : message;
}
