import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { ModelClient } from '../../model/client.js';
import { MessageAccumulator } from '../../model/stream/accumulate.js';
import { randomBytes } from '../../platform/random.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import { parseLocatedJson } from '../../settings/files/json.js';
import { duplicateProblem } from '../answers/read.js';
import { attempt, failed, oneLine } from '../dispatch/timeout.js';
import type {
  AgentHandler,
  HookFailure,
  HookRaw,
  HookRequest,
  HookRunner,
  PromptHandler,
} from '../registry/hook.js';
import system from './prompt-judge.md';

export interface AgentQuestion {
  /** With the hook's input in it. */
  readonly prompt: string;
  /** As the hook names it; absent: the default. */
  readonly model?: string;
  /** The agent whose step is judged. */
  readonly agent: AgentRef;
  readonly toolUseId?: string;
}

export interface AgentVerdict {
  readonly ok: boolean;
  readonly reason?: string;
}

/** Has an agent find out and decide. */
export type AgentJudge = (
  question: AgentQuestion,
  signal: AbortSignal,
) => Promise<Result<AgentVerdict, HookFailure>>;

/** Lets an agent look into the matter before it decides. `judge` is absent where no agent can run, or not yet. */
export function createAgentRunner(deps: { readonly judge?: AgentJudge }): HookRunner<AgentHandler> {
  return async ({ handler }, request) => {
    const { judge } = deps;
    const settled = aboutJudge(request);
    if (settled !== undefined) return settled;
    // fail-closed: without a judge there is no verdict.
    if (judge === undefined) return failed('unavailable', 'agent hooks cannot be run here');
    const { agent, toolUseId, json, signal } = request;
    const prompt = judgePrompt(handler.prompt, json);
    return await attempt(request, 'unavailable', async () => {
      const verdict = await judge({ prompt, agent, model: handler.model, toolUseId }, signal);
      if (!verdict.ok) return failed(verdict.error.cause, verdict.error.message);
      return { kind: 'verdict', ok: verdict.value.ok, reason: verdict.value.reason };
    });
  };
}

interface JudgeQuestion {
  /** As the hook names it; absent: a small one. */
  readonly model?: string;
  readonly system: string;
  readonly prompt: string;
  /** What the answer must fit, as JSON schema. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Has a model answer one question. The error says in one line why there is no answer. */
export type AskModel = (
  question: JudgeQuestion,
  signal: AbortSignal,
) => Promise<Result<string, string>>;

const VERDICT_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    reason: { type: 'string' },
    impossible: { type: 'boolean' },
  },
  required: ['ok'],
  additionalProperties: false,
};

/** Asks a model once, without tools. */
export function createPromptRunner(deps: { readonly ask: AskModel }): HookRunner<PromptHandler> {
  return async ({ handler }, request) => {
    const settled = aboutJudge(request);
    if (settled !== undefined) return settled;
    const prompt = judgePrompt(handler.prompt, request.json);
    const question = {
      model: handler.model,
      system: system.trim(),
      prompt,
      schema: VERDICT_SCHEMA,
    };
    return await attempt(request, 'unavailable', async () => {
      const answer = await deps.ask(question, request.signal);
      if (!answer.ok) return failed('unavailable', answer.error);
      const verdict = readVerdict(answer.value);
      return verdict.ok ? verdict.value : failed('no-verdict', verdict.error);
    });
  };
}

type Verdict = Extract<HookRaw, { kind: 'verdict' }>;

/** One object, bare or in one fence. Anything else is no verdict, however much it sounds like one. */
function readVerdict(text: string): Result<Verdict, string> {
  const bare = text.trim();
  const parsed = parseLocatedJson(FENCE.exec(bare)?.[1] ?? bare);
  // fail-closed: prose is not read for a yes.
  if (!parsed.ok || !isRecord(parsed.value)) {
    return err(`the model did not answer with one JSON object but with "${oneLine(bare, 80)}"`);
  }
  const twice = duplicateProblem(parsed.duplicates);
  // fail-closed: one of the two values may be the no.
  if (twice !== undefined) return err(`in the verdict of the model ${twice}`);
  const { ok: verdict, reason, impossible, ...others } = parsed.value;
  if (typeof verdict !== 'boolean') return err('the verdict of the model has no boolean "ok"');
  if (reason !== undefined && typeof reason !== 'string') return err('its "reason" is not a text');
  if (impossible !== undefined && typeof impossible !== 'boolean') {
    return err('its "impossible" is neither true nor false');
  }
  const [unknown] = Object.keys(others);
  // fail-closed: an unknown field may take back what the others say.
  if (unknown !== undefined) return err(`its verdict has the unknown field "${unknown}"`);
  return ok({ kind: 'verdict', ok: verdict, reason, impossible });
}

const FENCE = /^```(?:json)?[ \t]*\r?\n([\s\S]*)\r?\n[ \t]*```$/i;

/** A verdict is a few words; models that cannot but think need some room before it. */
const VERDICT_TOKENS = 2_000;

/**
 * Asks through the model layer: no tools, no thinking, a short answer. The schema is part of what
 * the model is told; that it is kept to is for the reader of the answer to check.
 *
 * `choose`: the id of the model that a hook names, or of the small one. May throw for a name that
 * means none.
 */
export function modelAsker(client: ModelClient, choose: (name?: string) => string): AskModel {
  return async ({ model, system, prompt, schema }, signal) => {
    const fold = new MessageAccumulator();
    let whole = false;
    const events = client.stream(
      {
        model: choose(model),
        system: [
          { type: 'text', text: `${system}\n\nSchema of the answer: ${JSON.stringify(schema)}` },
        ],
        tools: [],
        messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
        maxTokens: VERDICT_TOKENS,
        thinking: { type: 'disabled' },
      },
      signal,
    );
    for await (const event of events) {
      if (event.type === 'failure')
        return err(`the model cannot be asked: ${event.failure.message}`);
      fold.push(event);
      whole = event.type === 'message_stop';
    }
    // fail-closed: the rest of an answer may have been what mattered.
    return whole ? ok(textOf(fold.answer().content)) : err('the answer of the model broke off');
  };
}

/** The type of the agents that agent hooks run. */
export const HOOK_AGENT_TYPE = 'hook-agent';

/** The tool through which such an agent says what it decided. */
export const VERDICT_TOOL = 'StructuredOutput';

/**
 * What a model is asked: the hook's prompt with the hook's input for `$ARGUMENTS` (`\$ARGUMENTS`
 * stays as it is), or with the input after it. The input is enclosed in random marks, so that text
 * in it cannot end the block and continue as instructions. It is never cut: what is left out could be what
 * matters.
 */
export function judgePrompt(template: string, json: string): string {
  const mark = `hook-input-${randomBytes(8).toString('hex')}`;
  const block = `<${mark}>\n${json}\n</${mark}>`;
  let placed = false;
  const prompt = template.replace(/\\?\$ARGUMENTS(?![A-Za-z0-9_])/g, (found) => {
    if (found.startsWith('\\')) return found.slice(1);
    placed = true;
    return block;
  });
  return placed ? prompt : `${prompt}\n\n${block}`;
}

/**
 * What becomes of a hook that asks a model about the call of an agent that is itself a judge.
 * Undefined when it is about any other agent. Without this, one judge would need the next.
 */
export function aboutJudge({ agent, input }: HookRequest): HookRaw | undefined {
  if (agent.type !== HOOK_AGENT_TYPE) return undefined;
  // To say what it decided is no act: there is nothing to judge, and no verdict would ever arrive.
  if (input.tool_name === VERDICT_TOOL) return { kind: 'value', value: undefined };
  // fail-closed: the call is left to rules and other hooks, and this one has not agreed to it.
  return failed('unavailable', 'a judge cannot be judged by a judge');
}
