import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { type ContextReport, contextReport } from '../../context/compaction/context-report.js';
import { reminder } from '../../context/prompt/reminders.js';
import { systemPrompt } from '../../context/prompt/system-prompt.js';
import type { InputMessage } from '../../loop/types.js';
import type { Message } from '../../protocol/content.js';
import { listingMessage } from '../../skills/listing/listing.js';
import { openConversation } from './session-opening.js';
import type { Parts } from './session-parts.js';

/** Reports what the next request shows the model, without asking hooks or people. */
export async function contextView(
  config: SessionConfig,
  { model, toolRuntime, instructions }: Parts,
  shown: {
    readonly messages: readonly Message[];
    /** Used instead of messages before the first one. */
    readonly opening: readonly InputMessage[];
    /** Tokens by the provider's own count; 0 before its first. */
    readonly counted?: number;
  },
): Promise<ContextReport> {
  const { choices } = model;
  const { messages, opening, counted = 0 } = shown;
  const first = opening.map(({ content }): Message => ({ role: 'user', content }));
  return contextReport({
    model: choices.current().model,
    window: choices.limits().contextWindow,
    system: systemPrompt(config),
    tools: toolRuntime.builtins.pool.definitions,
    messages: messages.length > 0 ? messages : first,
    instructions: await instructions.book.report(),
    isSkillListing: (text) => text.startsWith(LISTING_HEAD) || text.startsWith(TOUCHED_HEAD),
    ...(counted === 0 ? {} : { counted }),
  });
}

const [LISTING_HEAD = ''] = reminder(listingMessage({ text: '' })).split('\n\n');
const TOUCHED_HEAD = '<system-reminder>\nThese skills can be started now:';

/** The context that a new session started here would have before the first prompt. */
export async function contextAtStart(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: Parts,
): Promise<ContextReport> {
  const opening = await openConversation(config, environment, { ...parts, isTrial: true });
  return await contextView(config, parts, { messages: [], opening: opening.messages });
}
