import type { SystemBlock } from '../model/client.js';
import defaultPrompt from './system-prompt.md';

export interface SystemPromptOptions {
  /** Replaces the default text; an empty string means no system prompt of ours at all. */
  readonly replacement?: string | readonly string[];
  /** Added after the default or the replacement. */
  readonly appended?: string;
}

/** The system prompt of a session: fixed when it opens, so that the prompt cache holds. */
export function systemPrompt(options: SystemPromptOptions): readonly SystemBlock[] {
  const { replacement } = options;
  const base =
    replacement === undefined
      ? [defaultPrompt.trim()]
      : typeof replacement === 'string'
        ? [replacement]
        : replacement;
  const texts = options.appended === undefined ? base : [...base, options.appended];
  return Object.freeze(
    texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text' as const, text })),
  );
}
