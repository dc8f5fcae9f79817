import type { SessionConfig } from '../../config/session-config.js';
import { openingFacts, type SessionEnvironment } from '../../config/session-environment.js';
import { createFirstMessages } from '../../context/prompt/first-messages.js';
import { hasEnvironmentReminder, reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { InputMessage } from '../../loop/types.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { Parts } from './session-parts.js';

/** The messages before the first prompt; empty in a resumed session. */
export interface SessionOpening {
  readonly messages: readonly InputMessage[];
  /** The instruction files among them. */
  readonly paths: readonly string[];
}

/** `isTrial`: only for a report, so nothing runs and no warning is given. */
export async function openConversation(
  config: SessionConfig,
  environment: SessionEnvironment,
  { isTrial, ...parts }: Omit<Parts, 'close'> & { readonly isTrial: boolean },
): Promise<SessionOpening> {
  const { model, log, hooks, instructions, skills, mcp, agents } = parts;
  const { pool } = parts.toolRuntime.builtins;
  const { history } = log;
  // A session begun by another runtime never had this opening.
  const isOpened = history.resumed && history.messages.some(hasEnvironmentReminder);
  const opening = await createFirstMessages({
    facts: openingFacts(environment, model.choices.current().model),
    book: instructions.book,
    resumedFrom: isOpened ? { cwd: history.lastCwd } : undefined,
    emit: isTrial ? () => undefined : config.emit,
    uuid: environment.clock.uuid,
  });
  instructions.told({ files: opening.loaded });
  const listedSkills = async (): Promise<string | undefined> => {
    if (pool.resolve(SKILL_TOOL) === undefined) return undefined;
    try {
      return await skills.listing(model.choices.limits().contextWindow);
    } catch (thrown) {
      hooks.tell(`the skills could not be listed: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  const listed = isOpened
    ? []
    : [mcp?.announcement(pool), await listedSkills(), await agents.listing(pool)];
  const { runsAs } = config;
  // What the main agent's definition adds besides its prompt and tools: memory, skills and a first prompt.
  const memory = runsAs && (await agents.runsAs(runsAs));
  const isNew = runsAs !== undefined && !history.resumed;
  const { signal } = new AbortController();
  const preloaded =
    isNew && !isTrial ? await skills.preload(runsAs.skills, MAIN_AGENT, signal) : [];
  const own = isNew ? [memory, ...preloaded.map(reminder)] : [];
  const said = (texts: readonly (string | undefined)[]): readonly InputMessage[] =>
    hooks.notes.followUp(texts.filter((text) => text !== undefined));
  const first = isNew ? runsAs.initialPrompt : undefined;
  return {
    messages: [
      ...opening.messages,
      ...said(listed),
      ...said(own),
      ...(first === undefined ? [] : [hooks.notes.prompt(first)]),
    ],
    paths: opening.paths,
  };
}
