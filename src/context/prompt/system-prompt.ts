import type { SystemBlock } from '../../model/client.js';
import styledPrompt from '../system-prompt-styled.md';
import type { OutputStyle } from './output-styles.js';
import defaultPrompt from './system-prompt.md';

export interface SystemPromptOptions {
  /** Replaces the default text; an empty string means no system prompt of ours at all. */
  readonly systemPrompt?: string | readonly string[];
  /** Added after the default or the replacement. */
  readonly appendSystemPrompt?: string;
  /** Shapes the default text; a replacement is used unchanged. */
  readonly outputStyle?: OutputStyle | undefined;
}

/** The system prompt of a session: fixed when it opens, so that the prompt cache holds. */
export function systemPrompt(options: SystemPromptOptions): readonly SystemBlock[] {
  const { systemPrompt: replacement, appendSystemPrompt: appended, outputStyle: style } = options;
  const base =
    replacement === undefined
      ? defaultTexts(style)
      : typeof replacement === 'string'
        ? [replacement]
        : replacement;
  const texts = appended === undefined ? base : [...base, appended];
  return Object.freeze(
    texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text' as const, text })),
  );
}

function defaultTexts(style: OutputStyle | undefined): readonly string[] {
  if (style === undefined) return [defaultPrompt.trim()];
  const base = style.keepsCodingInstructions ? defaultPrompt : styledPrompt;
  return [base.trim(), `# Output style: ${style.name}\n\n${style.prompt}`];
}
