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

/** What may be said after a call besides its result. */
export interface Admission {
  /** For the model: a definition that has changed and was accepted. */
  readonly note?: string;
}

/** What the tools of one server share. Tools are named as on their server. */
export interface McpToolParts extends Pick<OutputParts, 'fs' | 'env' | 'tell'> {
  readonly connection: Pick<McpConnection, 'call' | 'declaration'>;
  /** The definition that is in force: the approved one while another waits for its approval. */
  definition(tool: string): Result<RawTool, string>;
  /** The last look before a call goes out: it must have been judged, by the definition there is now. */
  admit(tool: string, toolUseId: string): Promise<Result<Admission, string>>;
}

type Input = Readonly<Record<string, unknown>>;

const SUMMARY_CHARS = 240;
const PROGRESS_CHARS = 500;

/** A tool of a server as one of ours. */
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
  /** Made once, when it is first wanted: the bytes that a model was sent must not change. */
  const said = (): About => {
    about ??= describe(name, origin, parts);
    return about;
  };
  return {
    name,
    ...(long !== undefined && { aliases: [long] }),
    // Only its server knows what it does, and no check is possible: the strictest kind.
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
    /** The server knows its schema best and says what is wrong. */
    async validate(input): Promise<readonly ValidationProblem[]> {
      return isRecord(input) ? [] : [{ path: '', message: 'the arguments are not an object' }];
    },
    subject: (input) => ({ paths: [], summary: summaryOf(origin, input) }),
    /** A hint of the server: it orders calls and permits nothing. */
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
      // The host's own code is handed it as it is, and may well change what it was given.
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
      // fail-closed: what it says of itself is not known.
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

/** Who is called with what, in one line. */
function summaryOf({ server, tool }: ToolOrigin, input: unknown): string {
  const text = `${shownName(tool)} of the MCP server ${shownName(server)} with ${visible(JSON.stringify(input) ?? '')}`;
  return text.length <= SUMMARY_CHARS ? text : `${sliceWhole(text, 0, SUMMARY_CHARS)}…`;
}

function failureText({ message, mayHaveRun }: SafeError): string {
  return mayHaveRun
    ? `${message} The call may have had its effect already: look before you repeat it.`
    : message;
}
