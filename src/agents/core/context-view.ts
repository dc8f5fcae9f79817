import type { SessionConfig } from '../../config/session-config.js';
import { openingFacts, type SessionEnvironment } from '../../config/session-environment.js';
import { type ContextReport, contextReport } from '../../context/compaction/context-report.js';
import { openOpening } from '../../context/prompt/opening.js';
import { reminder } from '../../context/prompt/reminders.js';
import { systemPrompt } from '../../context/prompt/system-prompt.js';
import type { InputMessage } from '../../loop/types.js';
import type { SystemBlock } from '../../model/client.js';
import type { Message } from '../../protocol/content.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import { listingMessage } from '../../skills/listing/listing.js';
import type { Parts } from './session-parts.js';

/** What the model is shown with the next request. Nobody is asked or told for it. */
export async function contextView(
  parts: Parts,
  shown: {
    readonly system: readonly SystemBlock[];
    readonly messages: readonly Message[];
    /** Tokens by the provider's own count; 0: it has not counted yet. */
    readonly counted?: number;
  },
): Promise<ContextReport> {
  const { choices } = parts.model;
  const { counted = 0 } = shown;
  return contextReport({
    model: choices.current().model,
    window: choices.limits().contextWindow,
    system: shown.system,
    tools: parts.toolRuntime.builtins.pool.definitions,
    messages: shown.messages,
    instructions: await parts.instructions.book.report(),
    isSkillListing: (text) => text.startsWith(LISTING_HEAD) || text.startsWith(TOUCHED_HEAD),
    ...(counted === 0 ? {} : { counted }),
  });
}

const LISTING_HEAD = headOf(reminder(listingMessage({ text: '' })));
const TOUCHED_HEAD = '<system-reminder>\nThese skills can be started now:';

function headOf(text: string): string {
  return text.slice(0, text.indexOf('\n\n'));
}

/** What a session that is started here now would show before the first prompt. */
export async function contextAtStart(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: Parts,
): Promise<ContextReport> {
  const { choices } = parts.model;
  const opening = await openOpening({
    fs: environment.fs,
    configDir: environment.configDir,
    sources: environment.sources,
    facts: openingFacts(environment, choices.current().model),
    book: parts.instructions.book,
    resumedFrom: undefined,
    // What was left out stands in the report.
    emit: () => undefined,
    uuid: environment.clock.uuid,
  });
  const offersSkills = parts.toolRuntime.builtins.pool.resolve(SKILL_TOOL) !== undefined;
  const listing = offersSkills
    ? await parts.skills.listing(choices.limits().contextWindow)
    : undefined;
  const { pool } = parts.toolRuntime.builtins;
  const texts = [parts.mcp?.announcement(pool), listing, await parts.agents.listing(pool)];
  const listed = parts.hooks.notes.followUp(texts.filter((text) => text !== undefined));
  const own = await ownWords(config, parts);
  return await contextView(parts, {
    system: systemPrompt(config),
    messages: asMessages([...opening.messages, ...listed, ...own]),
  });
}

/** What an agent brings to a session that runs as it: its notes and its first prompt. */
async function ownWords(
  { runsAs }: Pick<SessionConfig, 'runsAs'>,
  { agents, hooks: { notes } }: Parts,
): Promise<readonly InputMessage[]> {
  if (runsAs === undefined) return [];
  const memory = await agents.runsAs(runsAs);
  const { initialPrompt } = runsAs;
  return [
    ...notes.followUp(memory === undefined ? [] : [memory]),
    ...(initialPrompt === undefined ? [] : [notes.prompt(initialPrompt)]),
  ];
}

/** What is to be said, as it stands in a conversation. */
export function asMessages(inputs: readonly InputMessage[]): readonly Message[] {
  return inputs.map(({ content }) => ({ role: 'user', content }));
}
