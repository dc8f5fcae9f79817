import type { PostToolBatchToolCall } from '../../../build/generated/sdk-types.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { type ResultBlock, textOf } from '../../protocol/content.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { MalformedInput } from '../../protocol/tool-call.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { AnyTool, ToolOutput, ValidationProblem, Workspace } from '../../tools/tool.js';
import {
  agree,
  blockedBy,
  blockingNotes,
  contextsOf,
  deniedBy,
  endOf,
  stopOf,
  type Wish,
} from '../answers/round.js';
import { type FitsRule, namesOf, toolOccasion } from '../dispatch/input.js';
import { ask, type Scene } from '../dispatch/scene.js';
import type { HookDispatch, HookRound } from '../registry/hook.js';

type Input = Readonly<Record<string, unknown>>;

/** A call that has run. */
export interface FinishedCall {
  readonly call: {
    readonly toolUseId: string;
    readonly tool: AnyTool;
    /** What it ran with, after every rewrite. */
    readonly input: Input;
    readonly agent: AgentRef;
    readonly workspace: Workspace;
  };
  readonly mode: PermissionMode;
  readonly output: ToolOutput;
  /** How long it ran. */
  readonly ms: number;
  readonly signal: AbortSignal;
  /** It was interrupted before its end. */
  readonly interrupted?: boolean;
  /** Whether an `if` rule fits the call. */
  readonly fits?: FitsRule;
}

interface AfterCall {
  /** What model, screen and transcript get. */
  readonly output: ToolOutput;
  /** For the model, after the result. */
  readonly contexts: readonly string[];
  /** The turn ends after this step, and why. */
  readonly stop?: string;
}

/** A call whose input never became a valid one. */
interface InvalidCall extends Scene {
  readonly toolUseId: string;
  readonly tool: AnyTool;
  readonly input: Input;
  readonly malformed?: MalformedInput | undefined;
  readonly problems: readonly ValidationProblem[];
  /** What the model is told. */
  readonly error: string;
}

export interface PostToolHooks {
  /** PostToolUse, or PostToolUseFailure for an output that is an error. */
  after(finished: FinishedCall): Promise<AfterCall>;
  /** PostToolBatch: once for all calls of an answer, when each has its result. */
  batch(scene: Scene, calls: readonly PostToolBatchToolCall[]): Promise<Omit<AfterCall, 'output'>>;
  /** ToolInputInvalid. What the hooks add for the model. */
  invalid(invalid: InvalidCall): Promise<readonly string[]>;
}

/** What hooks do to the results of calls: add words, put something else in their place, end the turn. */
export function createPostToolHooks(dispatch: HookDispatch): PostToolHooks {
  return {
    async after(finished) {
      const { call, mode, output, ms, signal, interrupted, fits } = finished;
      const failed = output.isError === true;
      const event = failed ? 'PostToolUseFailure' : 'PostToolUse';
      const outcome = failed
        ? { error: textOf(output.content), is_interrupt: interrupted === true }
        : { tool_response: responseOf(output) };
      const about = { call: { ...call, signal }, mode };
      const fields = { ...outcome, duration_ms: Math.round(ms) };
      const round = await dispatch.fire(event, toolOccasion(event, about, { fields, fits }));
      // A failed call's own error goes on to the model, so a model's no about it does not end the turn.
      const stop = failed ? stopOf(round) : endOf(round);
      const result = resultOf(finished, round, `${event}:${call.tool.name}`);
      return stop === undefined ? result : { ...result, stop };
    },
    async batch(scene, calls) {
      if (calls.length === 0) return { contexts: [] };
      const round = await ask(dispatch, 'PostToolBatch', { scene, fields: { tool_calls: calls } });
      const stop = stopOf(round) ?? blockedBy(round)[0]?.reason;
      return { contexts: contextsOf(round, 'PostToolBatch'), stop };
    },
    async invalid(invalid) {
      const { tool, toolUseId, input, malformed, problems, error } = invalid;
      const fields = {
        tool_name: tool.name,
        tool_input: input,
        tool_use_id: toolUseId,
        cause: malformed?.cause ?? 'schema',
        error,
        problems,
        raw: malformed?.raw,
      };
      const question = { scene: invalid, fields, matched: namesOf({ tool }), toolUseId };
      const round = await ask(dispatch, 'ToolInputInvalid', question);
      return contextsOf(round, `ToolInputInvalid:${tool.name}`);
    },
  };
}

function resultOf({ call, output }: FinishedCall, round: HookRound, prefix: string): AfterCall {
  const { reports } = round;
  if (reports.length === 0) return { output, contexts: [] };
  const failed = reports.find(({ refuses }) => refuses === true);
  if (failed !== undefined) {
    // fail-closed: it was to look at the output first. The cause alone is told; the message of a
    // failure may quote what the hook was shown.
    const cause = failed.failure?.cause ?? 'no-verdict';
    const spent = Math.round(failed.ms);
    const why = `guard failed: ${failed.hook.label} gave no verdict (${cause}, after ${spent} ms)`;
    return withheld(call.tool, output, why);
  }
  const shown = replaceOutput(call.tool, output, round);
  if (!shown.ok) return withheld(call.tool, output, shown.error);
  const notes = blockingNotes(deniedBy(round), prefix);
  return { output: shown.value, contexts: [...notes, ...contextsOf(round, prefix)] };
}

/**
 * Nothing of the output, nor of what hooks said about it, which may quote it. An answer that would
 * have ended the run ends it all the same, without being given.
 */
function withheld(tool: AnyTool, output: ToolOutput, why: string): AfterCall {
  const text = `${tool.name} was run, and its output is withheld: ${why}. Do not run it again to see it; tell the user.`;
  return {
    output: { content: text, isError: true, structured: `Error: ${text}` },
    contexts: [],
    stop: output.finish === undefined ? undefined : `the answer is withheld: ${why}`,
  };
}

/** Characters of a replacement as JSON. Pictures are long. */
export const LARGEST_REPLACEMENT = 16 * 1024 * 1024;

/** Text in content blocks, which nothing cuts to a bearable length later. */
const MOST_BLOCK_TEXT = 450_000;

/** Text, or an object or list that is nothing but data. */
type Plain = string | object;

/** What hooks are shown as the result of a call. */
function responseOf({ structured, content }: ToolOutput): unknown {
  return structured ?? content;
}

/**
 * The output, or what the hooks of a finished call put in its place. A hook that gives back what it was
 * shown wants no change. The error: why nothing of the output may be shown; it quotes nothing of it.
 *
 * Contract: whatever a hook gives, the outcome is the output it wants or nothing at all; a mistake in
 * the replacement never lets the original out.
 */
function replaceOutput(
  tool: AnyTool,
  output: ToolOutput,
  { reports }: HookRound,
): Result<ToolOutput, string> {
  const failed = reports.find(({ redacts }) => redacts === true);
  if (failed !== undefined) {
    return unusable(failed.hook.label, failed.failure?.cause ?? 'it is not said as it must be');
  }
  const shown = (): string | undefined => {
    const plain = plainOf(responseOf(output));
    return plain.ok ? canonicalJson(plain.value) : undefined;
  };
  const wishes: Wish<Plain>[] = [];
  for (const { hook, answer } of reports) {
    // For any tool, or, weaker, for MCP tools alone. Null is a value, and a wrong one.
    const forAny = own(answer.fields, 'updatedToolOutput');
    const value = forAny === undefined ? own(answer.fields, 'updatedMCPToolOutput') : forAny;
    if (value === undefined) continue;
    const plain = plainOf(value);
    if (!plain.ok) return unusable(hook.label, plain.error);
    if (canonicalJson(plain.value) === shown()) continue;
    if (forAny === undefined && !tool.name.startsWith('mcp__')) {
      const why = 'updatedMCPToolOutput is for MCP tools; updatedToolOutput is for all';
      return unusable(hook.label, why);
    }
    wishes.push({ by: hook.label, value: plain.value });
  }
  const agreed = agree(wishes, (a, b) => canonicalJson(a) === canonicalJson(b));
  // fail-closed: each of them hides something else of it.
  if (!agreed.ok) return err(`two hooks want different outputs: ${agreed.error.join(' and ')}`);
  if (agreed.value === undefined) return ok(output);
  const { by, value } = agreed.value;
  try {
    const made = outputOf(tool, output, value);
    return made.ok ? made : unusable(by, made.error);
  } catch {
    // The message of what was thrown may quote the value.
    return unusable(by, 'it could not be applied');
  }
}

/** fail-closed: a replacement that cannot be applied still means that the original is not to be shown. */
function unusable(by: string, problem: string): Result<never, string> {
  return err(`the output that ${by} gave in its place is of no use: ${problem}`);
}

/** A copy that is data alone, so that what was checked is what is shown. */
function plainOf(value: unknown): Result<Plain, string> {
  const isPlain = (one: unknown): one is Plain =>
    typeof one === 'string' || (typeof one === 'object' && one !== null);
  if (!isPlain(value)) return err('it is neither a text nor an object');
  let text: string | undefined;
  try {
    text = typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    // A loop in it, or a value that JSON does not have: its message may quote the value.
  }
  if (text === undefined) return err('it cannot be written as JSON');
  const parsed = typeof value === 'string' ? ok(value) : parseJson(text);
  if (!parsed.ok) return parsed;
  if (!isPlain(parsed.value)) return err('it is neither a text nor an object');
  return text.length > LARGEST_REPLACEMENT
    ? err(`it has ${text.length} characters, and ${LARGEST_REPLACEMENT} are the limit`)
    : ok(parsed.value);
}

function outputOf(tool: AnyTool, output: ToolOutput, value: Plain): Result<ToolOutput, string> {
  const own = tool.present?.(value);
  // The answer that ends a run was promised in a form; only its tool can say what has that form.
  const ends = output.finish !== undefined;
  if (ends && own === undefined) return err('it is no answer that this tool could have given');
  const content =
    typeof value === 'string' && !ends ? value : (own ?? blocksOf(value) ?? JSON.stringify(value));
  if (typeof content !== 'string' && textOf(content).length > MOST_BLOCK_TEXT) {
    return err(`its blocks hold more than ${MOST_BLOCK_TEXT} characters`);
  }
  return ok({
    content,
    structured: value,
    ...(output.isError === true ? { isError: true } : {}),
    ...(ends ? { finish: { structuredOutput: value } } : {}),
  });
}

/** A list of content blocks is shown as such. Undefined when it is none, or not only of them. */
function blocksOf(value: Plain): readonly ResultBlock[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const blocks = value.map(blockOf);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

/** Only the fields that a block has; a provider refuses others. */
function blockOf(value: unknown): ResultBlock | undefined {
  if (!isRecord(value)) return undefined;
  const { type, text, title } = value;
  if (type === 'text') return typeof text === 'string' ? { type, text } : undefined;
  if (type !== 'image' && type !== 'document') return undefined;
  const source = sourceOf(value.source);
  if (source === undefined) return undefined;
  if (type === 'image') return { type, source };
  return { type, source, ...(typeof title === 'string' ? { title } : {}) };
}

function sourceOf(value: unknown): Extract<ResultBlock, { type: 'image' }>['source'] | undefined {
  if (!isRecord(value)) return undefined;
  const { type, media_type, data, url } = value;
  if (type === 'url') return typeof url === 'string' ? { type, url } : undefined;
  if (type !== 'base64' || typeof media_type !== 'string' || typeof data !== 'string') {
    return undefined;
  }
  return { type, media_type, data };
}
