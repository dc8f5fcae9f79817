import type { SystemBlock } from '../../model/client.js';
import type { Message } from '../../protocol/content.js';
import { isInstructionsReminder } from '../instructions/reminder.js';
import type { InstructionReport } from '../instructions/report.js';
import { estimateFixed, estimateMessages } from './tokens.js';

/** What there is to know about one request to the model. */
export interface ContextFacts {
  readonly model: string;
  /** Tokens that fit into the model. */
  readonly window: number;
  readonly system: readonly SystemBlock[];
  readonly tools: readonly ContextTool[];
  /** All messages of the conversation, with those before the first prompt. */
  readonly messages: readonly Message[];
  readonly instructions: InstructionReport;
  /** Whether a text lists skills. */
  isSkillListing(text: string): boolean;
  /** Tokens by the provider's own count, where it has counted. */
  readonly counted?: number;
}

type ContextTool = Parameters<typeof estimateFixed>[0]['tools'][number];

export type ContextPartName =
  | 'system prompt'
  | 'tools'
  | 'instructions'
  | 'skill listing'
  | 'other notes of the runtime'
  | 'prompts'
  | 'answers'
  | 'tool results';

export interface ContextPart {
  readonly name: ContextPartName;
  /** Estimated. */
  readonly tokens: number;
  /** Of the window, 0 to 1. */
  readonly share: number;
}

/** What the model is shown, by part and by file. It holds names and sizes, and no text of any file. */
export interface ContextReport {
  readonly model: string;
  readonly window: number;
  /** Estimated. */
  readonly tokens: number;
  readonly share: number;
  readonly counted?: number;
  readonly parts: readonly ContextPart[];
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  readonly skillsListed: number;
  readonly instructions: InstructionReport;
}

export function contextReport(facts: ContextFacts): ContextReport {
  const { window, system, tools, counted } = facts;
  const sizes = new Map<ContextPartName, number>([
    ['system prompt', estimateFixed({ system, tools: [] })],
    ['tools', estimateFixed({ system: [], tools })],
  ]);
  let skillsListed = 0;
  for (const { name, tokens, text } of blocksOf(facts)) {
    sizes.set(name, (sizes.get(name) ?? 0) + tokens);
    if (name === 'skill listing') skillsListed += (text.match(/^- /gm) ?? []).length;
  }
  const parts = PART_NAMES.flatMap((name): ContextPart[] => {
    const tokens = sizes.get(name) ?? 0;
    return tokens === 0 ? [] : [{ name, tokens, share: tokens / window }];
  });
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  return {
    model: facts.model,
    window,
    tokens,
    share: tokens / window,
    counted,
    parts,
    tools: tools.map((tool) => ({
      name: tool.name,
      tokens: estimateFixed({ system: [], tools: [tool] }),
    })),
    skillsListed,
    instructions: facts.instructions,
  };
}

/** In the order in which the model reads them. */
const PART_NAMES: readonly ContextPartName[] = [
  'system prompt',
  'tools',
  'other notes of the runtime',
  'instructions',
  'skill listing',
  'prompts',
  'answers',
  'tool results',
];

interface SizedBlock {
  readonly name: ContextPartName;
  readonly tokens: number;
  readonly text: string;
}

function blocksOf({ messages, isSkillListing }: ContextFacts): readonly SizedBlock[] {
  return messages.flatMap((message): SizedBlock[] => {
    if (message.role === 'assistant') {
      return [{ name: 'answers', tokens: estimateMessages([message]), text: '' }];
    }
    return message.content.map((block) => {
      const tokens = estimateMessages([{ role: 'user', content: [block] }]);
      if (block.type === 'tool_result') return { name: 'tool results', tokens, text: '' };
      const text = block.type === 'text' ? block.text : '';
      return { name: nameOf(text, isSkillListing), tokens, text };
    });
  });
}

function nameOf(text: string, isSkillListing: (text: string) => boolean): ContextPartName {
  if (!text.startsWith('<system-reminder>')) return 'prompts';
  if (isInstructionsReminder(text)) return 'instructions';
  return isSkillListing(text) ? 'skill listing' : 'other notes of the runtime';
}
