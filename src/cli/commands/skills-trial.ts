import type { ModelLayer } from '../../agents/model-layer.js';
import { reminder } from '../../context/reminders.js';
import { systemPrompt } from '../../context/system-prompt.js';
import type { ToolDefinition } from '../../model/client.js';
import { AnswerFold } from '../../model/fold.js';
import { listingMessage, type SkillListing } from '../../skills/listing.js';
import { asName } from '../../skills/names.js';
import skillDescription from '../../skills/skill-tool.md';
import bashDescription from '../../tools/builtin/bash.md';
import readDescription from '../../tools/builtin/read.md';
import { builtinDefinition } from '../../tools/builtin-definition.js';
import { err, ok, type Result } from '../../util/result.js';

const SKILL = 'Skill';

/** As few as leave the model another way than a skill. */
const TOOLS: readonly ToolDefinition[] = [
  builtinDefinition('Bash', bashDescription).definition,
  builtinDefinition('Read', readDescription).definition,
  builtinDefinition(SKILL, skillDescription).definition,
];

/** Shows a model the listing and a prompt, as the first message of a session, and sees which skills it starts. */
export async function chosenSkills(
  { client, choices }: Pick<ModelLayer, 'client' | 'choices'>,
  question: { readonly listing: SkillListing; readonly prompt: string },
  signal: AbortSignal,
): Promise<Result<readonly string[], string>> {
  const { listing, prompt } = question;
  const texts = listing.text === '' ? [prompt] : [reminder(listingMessage(listing)), prompt];
  const fold = new AnswerFold();
  const events = client.stream(
    {
      ...choices.current(),
      system: systemPrompt({}),
      tools: TOOLS,
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    },
    signal,
  );
  for await (const event of events) {
    if (event.type === 'failure') return err(event.failure.message);
    fold.feed(event);
  }
  const names = fold.answer().content.flatMap((block) => {
    if (block.type !== 'tool_use' || block.name !== SKILL) return [];
    const { skill } = block.input;
    return typeof skill === 'string' ? [asName(skill)] : [];
  });
  return ok([...new Set(names)]);
}
