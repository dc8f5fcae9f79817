import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { MODEL_ALIASES } from '../../model/catalog/aliases.js';
import type { ModelChoice } from '../core/agent.js';
import type { ModelChoices, ModelLimits } from '../core/model-choice.js';

export interface ModelWish {
  /** Of the call. */
  readonly call: string | undefined;
  readonly definition: string | undefined;
  /** What the agent runs on that starts the new one; undefined: the session's. */
  readonly parent: string | undefined;
  readonly effort: string | undefined;
}

export interface ChosenModel {
  readonly choice: ModelChoice;
  readonly limits: ModelLimits;
}

/** The environment, then the call, then the definition, then what the parent runs on. */
export function childModel(
  {
    choices,
    env,
    provider,
  }: {
    readonly choices: Pick<ModelChoices, 'other'>;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly provider: string;
  },
  wish: ModelWish,
): Result<ChosenModel, string> {
  const named = [env.CLAUDE_CODE_SUBAGENT_MODEL, wish.call, wish.definition].find(isName);
  // The words of one provider mean nothing to another one.
  const isForeign =
    named !== undefined && provider !== 'anthropic' && MODEL_ALIASES.includes(named.toLowerCase());
  const model = named === undefined || isForeign ? wish.parent : named;
  try {
    return ok(choices.other({ model, effort: wish.effort }));
  } catch (thrown) {
    return err(`its model "${model ?? ''}" cannot be used: ${messageOf(thrown)}`);
  }
}

function isName(name: string | undefined): name is string {
  return name !== undefined && name.trim() !== '' && name.trim().toLowerCase() !== 'inherit';
}
