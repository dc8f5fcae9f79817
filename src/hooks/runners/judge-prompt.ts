import { randomBytes } from '../../platform/random.js';
import { failed } from '../dispatch/timeout.js';
import type { HookRaw, HookRequest } from '../registry/hook.js';

/** The type of the agents that agent hooks run. */
export const HOOK_AGENT_TYPE = 'hook-agent';

/** The tool through which such an agent says what it decided. */
export const VERDICT_TOOL = 'StructuredOutput';

/**
 * What a model is asked: the hook's prompt with the hook's input for `$ARGUMENTS` (`\$ARGUMENTS`
 * stays as it is), or with the input after it. The input stands between marks that nobody who wrote
 * a part of it could have known, so that it cannot end the block and go on as instructions. It is
 * never cut: what is left out could be what matters.
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
