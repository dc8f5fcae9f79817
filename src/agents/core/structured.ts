import type { InputMessage } from '../../loop/types.js';

/** How often the model is asked for the structured answer before the run fails. */
export const STRUCTURED_ATTEMPTS = 5;

const NUDGE =
  'Give your answer by calling the StructuredOutput tool now, with an input that fits its schema. Text alone is not accepted.';

/** Reminds a model that owes a structured answer and wants to leave without it. */
export function structuredNudge(uuid: () => string): () => InputMessage | undefined {
  let asked = 0;
  return () => {
    if (++asked >= STRUCTURED_ATTEMPTS) return undefined;
    return { uuid: uuid(), content: [{ type: 'text', text: NUDGE }], meta: true };
  };
}
