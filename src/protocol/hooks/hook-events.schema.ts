import { z } from 'zod';
import { COMMON_INPUT, COMMON_OUTPUT, type HookEventDefinition, may } from './hook-event.schema.js';
import { PROJECT_EVENTS } from './hook-events-project.schema.js';
import { SESSION_EVENTS } from './hook-events-session.schema.js';
import { TOOL_EVENTS } from './hook-events-tools.schema.js';

const {
  SessionStart,
  Setup,
  InstructionsLoaded,
  UserPromptSubmit,
  UserPromptExpansion,
  MessageDisplay,
  ...afterTools
} = SESSION_EVENTS;

/** Every event, in the order in which a session comes to it; lists and the reference page have this order. */
export const HOOK_DEFINITIONS = {
  SessionStart,
  Setup,
  InstructionsLoaded,
  UserPromptSubmit,
  UserPromptExpansion,
  MessageDisplay,
  ...TOOL_EVENTS,
  ...afterTools,
  ...PROJECT_EVENTS,
};

/** The whole input of an event. Unknown keys are fine: later versions add some. */
export function hookInputSchema(event: string, { input }: HookEventDefinition): z.ZodType {
  const { session_id, transcript_path, cwd, ...rest } = COMMON_INPUT;
  return z.looseObject({
    session_id,
    transcript_path,
    cwd,
    hook_event_name: z.literal(event).describe('The event.'),
    ...rest,
    ...input,
  });
}

/** The whole output of an event. Unknown keys are fine: other programs read the same answer. */
export function hookOutputSchema(event: string, definition: HookEventDefinition): z.ZodType {
  const specific = z.looseObject({
    hookEventName: z.literal(event).describe('The event that this answers.'),
    ...definition.output,
  });
  return z.looseObject({
    ...COMMON_OUTPUT,
    ...definition.topOutput,
    hookSpecificOutput: may(specific, 'What only this event understands.'),
  });
}
