import { reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { oneLine } from '../../skills/discovery/names.js';
import { fairShares } from '../../skills/listing/fair-shares.js';
import type { TypeRules } from '../limits/type-rules.js';
import { UNLISTED_AGENTS } from './builtin-agents.js';
import type { AgentDefinition } from './definition.js';
import { type AgentBook, agentNotice } from './definitions.js';
import { bareName } from './tools.js';

export interface AgentListingOptions {
  /** The most characters of the whole text. */
  readonly budgetChars?: number;
}

export interface AgentListing {
  /** One line for each type; empty when there is none. */
  readonly text: string;
  /** Types whose description is cut, or that are not shown at all. */
  readonly cut: readonly string[];
}

export const AGENT_LISTING_CHARS = 16_000;
/** The longest description, whatever room there is. */
const LONGEST_DESCRIPTION = 2_000;
const MOST_TOOLS = 12;
/** A description of fewer characters tells nothing. */
const LEAST_DESCRIPTION = 24;

/**
 * What the model is told of the types: name, when to use it, tools. The same bytes for the same
 * definitions. Over the budget long descriptions are cut first and equally; names go last.
 */
export function agentListing(
  definitions: readonly AgentDefinition[],
  { budgetChars = AGENT_LISTING_CHARS }: AgentListingOptions = {},
): AgentListing {
  const entries = definitions
    .filter(({ name, source }) => source !== 'builtin' || !UNLISTED_AGENTS.has(name))
    .map(entryOf)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const { shown, left } = namesThatFit(entries, budgetChars);
  const shares = fairShares(
    shown.map(({ words, tools }) => words.length + tools.length),
    left,
  );
  const lines: string[] = [];
  const cut: string[] = [];
  for (const entry of entries) {
    const isShown = shown[lines.length] === entry;
    const room = shares[lines.length] ?? 0;
    if (!isShown || entry.capped || !isWholeIn(entry, room)) cut.push(entry.name);
    if (isShown) lines.push(lineOf(entry, room));
  }
  const missing = entries.length - shown.length;
  if (missing > 0) lines.push(summary(missing));
  return { text: lines.join('\n'), cut };
}

interface Entry {
  readonly name: string;
  /** With what leads up to it. */
  readonly words: string;
  readonly tools: string;
  readonly capped: boolean;
}

function entryOf(definition: AgentDefinition): Entry {
  const description = safeLine(definition.description);
  const short = shortened(description, LONGEST_DESCRIPTION);
  return {
    name: safeLine(definition.name),
    words: `: ${short}`,
    tools: ` (Tools: ${toolWords(definition)})`,
    capped: short !== description,
  };
}

/** One line, without what nobody sees, that cannot pass for a note of the program. */
function safeLine(text: string): string {
  return oneLine(text).replace(/<(?=\s*\/?\s*system)/gi, '‹');
}

/** What a type may use, in words. */
export function toolWords({ tools, disallowedTools }: AgentDefinition): string {
  const bans = disallowedTools.map(safeLine);
  if (tools === undefined) return bans.length === 0 ? 'all' : `all but ${some(bans)}`;
  // A ban of a whole tool takes it off the list.
  const left = tools.filter((tool) => !disallowedTools.includes(bareName(tool)));
  return left.length === 0 ? 'none' : some(left.map(safeLine));
}

function some(names: readonly string[]): string {
  const more = names.length - MOST_TOOLS;
  const shown = names.slice(0, MOST_TOOLS).map((name) => shortened(name, 60));
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** Names in their order, as many as there is room for, and the room that is left. */
function namesThatFit(
  entries: readonly Entry[],
  budget: number,
): { readonly shown: readonly Entry[]; readonly left: number } {
  const cost = ({ name }: Entry): number => `- ${name}\n`.length;
  const all = entries.reduce((sum, entry) => sum + cost(entry), 0);
  if (all <= budget) return { shown: entries, left: budget - all };
  let left = budget - summary(entries.length).length;
  const shown = entries.filter((entry) => {
    if (cost(entry) > left) return false;
    left -= cost(entry);
    return true;
  });
  return { shown, left: Math.max(0, left) };
}

function isWholeIn({ words, tools }: Entry, room: number): boolean {
  return words.length + tools.length <= room;
}

function lineOf(entry: Entry, room: number): string {
  const { name, words, tools } = entry;
  if (isWholeIn(entry, room)) return `- ${name}${words}${tools}`;
  // Without its tools a description still tells when to use the type; the other way round it does not.
  const withTools = room - tools.length;
  if (withTools >= LEAST_DESCRIPTION) return `- ${name}${shortened(words, withTools)}${tools}`;
  return room >= LEAST_DESCRIPTION ? `- ${name}${shortened(words, room)}` : `- ${name}`;
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${sliceWhole(text, 0, most - 1).trimEnd()}…`;
}

function summary(missing: number): string {
  return `(No room for all: ${missing} more types are not shown.)`;
}

export interface AgentListingParts {
  readonly book: AgentBook;
  readonly types: Pick<TypeRules, 'allowed'>;
  /** The kind that copies the one who starts it, where that is offered. */
  forks(): AgentDefinition | undefined;
  /** What people should know. */
  tell(text: string): void;
}

/** What the model is told of the kinds of agents. */
export interface AgentListings {
  /** Of those that this agent may start; undefined when there is none. */
  of(agent: AgentRef): Promise<string | undefined>;
}

export function openAgentListings(parts: AgentListingParts): AgentListings {
  const { book, types } = parts;
  let isTold = false;

  /** Once, of definitions that are not in force. People can wait: the first request goes out before it. */
  function tellOfBroken(): void {
    if (isTold) return;
    isTold = true;
    setImmediate(async () => {
      const notice = await book.problems().then(agentNotice, messageOf);
      if (notice !== undefined) parts.tell(notice);
    });
  }

  return {
    async of(agent) {
      const kinds = [...(await book.list()), ...[parts.forks() ?? []].flat()];
      tellOfBroken();
      const { text } = agentListing(await types.allowed(agent, kinds));
      if (text === '') return undefined;
      return reminder(`These types of agents can be started with the Agent tool:\n\n${text}`);
    },
  };
}
