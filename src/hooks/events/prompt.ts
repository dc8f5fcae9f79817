import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { agree, blockedBy, contextsOf, stopOf, textIn, type Wish } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookDispatch, HookRound } from '../registry/hook.js';

/** Where a prompt comes from, as hooks read it. */
type PromptSource = NonNullable<HookFields<'UserPromptSubmit'>['source']>;

interface SubmittedPrompt extends Scene {
  readonly prompt: string;
  readonly source?: PromptSource | undefined;
  readonly sessionTitle?: string | undefined;
}

/** A typed command, skill or MCP prompt that expands to a longer text. */
export interface ExpandedPrompt extends Scene {
  readonly type: HookFields<'UserPromptExpansion'>['expansion_type'];
  readonly command: string;
  readonly args: string;
  /** Where the command is defined. */
  readonly source?: string | undefined;
  /** As typed. */
  readonly prompt: string;
}

type PromptOutcome =
  | {
      readonly kind: 'pass';
      /** For the model, beside the prompt. */
      readonly contexts: readonly string[];
      /** What the model reads in its place; the transcript keeps both. */
      readonly updatedPrompt?: string;
      /** What was typed is not shown again. */
      readonly suppressOriginal?: boolean;
      readonly sessionTitle?: string;
    }
  /** It never reaches the model and is not kept in the conversation. */
  | {
      readonly kind: 'blocked';
      readonly reason: string;
      /** Labels of the hooks that hold it back. */
      readonly by: string;
      readonly suppressOriginal?: boolean;
    }
  /** `continue: false`: it is kept, and no turn follows. */
  | { readonly kind: 'stopped'; readonly reason: string };

/** UserPromptSubmit. A gate, as UserPromptExpansion is: no verdict is a refusal. */
export async function promptSubmitted(
  dispatch: HookDispatch,
  submitted: SubmittedPrompt,
): Promise<PromptOutcome> {
  const { prompt, source, sessionTitle } = submitted;
  const fields = { prompt, source, session_title: sessionTitle };
  const round = await ask(dispatch, 'UserPromptSubmit', { scene: submitted, fields });
  return outcomeOf(round, prompt, 'UserPromptSubmit');
}

/** UserPromptExpansion. */
export async function promptExpanded(
  dispatch: HookDispatch,
  expanded: ExpandedPrompt,
): Promise<PromptOutcome> {
  const { type, command, args, source, prompt } = expanded;
  const fields = {
    expansion_type: type,
    command_name: command,
    command_args: args,
    command_source: source,
    prompt,
  };
  const question = { scene: expanded, fields, matched: [command] };
  const round = await ask(dispatch, 'UserPromptExpansion', question);
  return outcomeOf(round, prompt, 'UserPromptExpansion');
}

/** A refusal goes before a wish to stop: it also keeps the prompt out of the conversation. */
function outcomeOf(round: HookRound, prompt: string, prefix: string): PromptOutcome {
  const { reports } = round;
  const suppresses = reports.some(({ answer }) => answer.fields.suppressOriginalPrompt === true);
  const suppress = suppresses ? { suppressOriginal: true } : {};
  // fail-closed: no person can be asked about a prompt, so a hook that wants that refuses.
  const undecided = reports
    .filter(({ answer }) => answer.decision === 'ask' || answer.decision === 'defer')
    .map(({ hook, answer }) => ({
      by: hook.label,
      reason: answer.reason ?? 'it wants a person to decide',
    }));
  const objections = [...blockedBy(round), ...undecided];
  const blocked = (reasons: readonly string[], labels: readonly string[]): PromptOutcome => {
    const by = [...new Set(labels)].join(', ');
    return { kind: 'blocked', reason: reasons.join('\n'), by, ...suppress };
  };
  if (objections.length > 0) {
    return blocked(
      objections.map(({ reason }) => reason),
      objections.map(({ by }) => by),
    );
  }
  const stop = stopOf(round);
  if (stop !== undefined) return { kind: 'stopped', reason: stop };
  const rewrite = rewriteOf(round, prompt);
  if (!rewrite.ok) return blocked([rewrite.error.reason], rewrite.error.by);
  // Reports are in the order of their sources, the strongest first.
  const [title] = reports.flatMap(({ answer }) => textIn(answer.fields, 'sessionTitle') ?? []);
  return {
    kind: 'pass',
    contexts: contextsOf(round, prefix),
    updatedPrompt: rewrite.value,
    ...suppress,
    sessionTitle: title?.trim(),
  };
}

/** A hook that gives back what it was shown wants no change. */
function rewriteOf(
  { reports }: HookRound,
  prompt: string,
): Result<string | undefined, { readonly reason: string; readonly by: readonly string[] }> {
  const wishes: Wish<string>[] = [];
  for (const { hook, answer } of reports) {
    const value = own(answer.fields, 'updatedPrompt');
    if (value === undefined || value === prompt) continue;
    if (typeof value !== 'string' || value.trim() === '') {
      // fail-closed: the prompt was not to go out as it is.
      const reason = `${hook.label} gave an updatedPrompt that is not a text or an empty one`;
      return err({ reason, by: [hook.label] });
    }
    wishes.push({ by: hook.label, value });
  }
  const wanted = agree(wishes);
  if (wanted.ok) return ok(wanted.value?.value);
  // fail-closed: no order between hooks may decide what the model reads.
  const reason = `two hooks want different prompts: ${wanted.error.join(' and ')}`;
  return err({ reason, by: wanted.error });
}
