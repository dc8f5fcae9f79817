import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { failed, inTime, oneLine } from '../dispatch/timeout.js';
import type { HookRaw, HookRunner, PromptHandler } from '../registry/hook.js';
import { aboutJudge, judgePrompt } from './judge-prompt.js';
import system from './prompt-judge.md';

export interface JudgeQuestion {
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

export interface PromptRunnerDeps {
  readonly ask: AskModel;
}

export const PROMPT_VERDICT_SCHEMA: Readonly<Record<string, unknown>> = {
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
export function createPromptRunner(deps: PromptRunnerDeps): HookRunner<PromptHandler> {
  return async ({ handler }, request) => {
    const settled = aboutJudge(request);
    if (settled !== undefined) return settled;
    const question: JudgeQuestion = {
      model: handler.model,
      system: system.trim(),
      prompt: judgePrompt(handler.prompt, request.json),
      schema: PROMPT_VERDICT_SCHEMA,
    };
    return inTime(request, 'unavailable', async (signal) => {
      const answer = await deps.ask(question, signal);
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
  const parsed = parseJson(FENCE.exec(bare)?.[1] ?? bare);
  // fail-closed: prose is not read for a yes.
  if (!parsed.ok || !isRecord(parsed.value)) {
    return err(`the model did not answer with one JSON object but with "${oneLine(bare, 80)}"`);
  }
  const { ok: verdict, reason, impossible, ...others } = parsed.value;
  if (typeof verdict !== 'boolean') return err('the verdict of the model has no boolean "ok"');
  if (reason !== undefined && typeof reason !== 'string') return err('its "reason" is no text');
  if (impossible !== undefined && typeof impossible !== 'boolean') {
    return err('its "impossible" is neither true nor false');
  }
  const [unknown] = Object.keys(others);
  // fail-closed: a field that nobody asked for may take back what the others say.
  if (unknown !== undefined) return err(`its verdict has the unknown field "${unknown}"`);
  return ok({
    kind: 'verdict',
    ok: verdict,
    reason,
    impossible,
  });
}

const FENCE = /^```(?:json)?[ \t]*\r?\n([\s\S]*)\r?\n[ \t]*```$/i;
