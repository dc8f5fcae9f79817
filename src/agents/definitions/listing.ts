import { reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { oneLine } from '../../skills/discovery/names.js';
import { fairShares } from '../../skills/listing/fair-shares.js';
import type { TypeRules } from '../limits/type-rules.js';
import { UNLISTED_AGENTS } from './builtin-agents.js';
import type { AgentDefinition } from './definition.js';
import { type AgentBook, agentNotice } from './definitions.js';
import { bareName } from './tools.js';

const LISTING_CHARS = 16_000;
/** The longest description, even when there is room. */
const LONGEST_DESCRIPTION = 2_000;
const MOST_TOOLS = 12;
/** A shorter description would be useless. */
const LEAST_DESCRIPTION = 24;

/**
 * Lists the agent types for the model, one line each: name, when to use it, tools. Output is deterministic
 * for its cache. Over the budget, long descriptions are shortened first and equally; names are dropped last.
 */
export function agentListing(
  definitions: readonly AgentDefinition[],
  budgetChars = LISTING_CHARS,
): string {
  const entries = definitions
    .filter(({ name, source }) => source !== 'builtin' || !UNLISTED_AGENTS.has(name))
    .map((definition) => ({
      name: safeLine(definition.name),
      words: `: ${shortened(safeLine(definition.description), LONGEST_DESCRIPTION)}`,
      tools: ` (Tools: ${toolWords(definition)})`,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const cost = ({ name }: Entry): number => `- ${name}\n`.length;
  const isFull = entries.reduce((sum, entry) => sum + cost(entry), 0) > budgetChars;
  let left = isFull ? budgetChars - summary(entries.length).length : budgetChars;
  const shown = entries.filter((entry) => {
    if (cost(entry) > left) return false;
    left -= cost(entry);
    return true;
  });
  const needs = shown.map(({ words, tools }) => words.length + tools.length);
  const shares = fairShares(needs, Math.max(0, left));
  const missing = entries.length - shown.length;
  return [
    ...shown.map((entry, at) => lineOf(entry, shares[at] ?? 0)),
    ...(missing > 0 ? [summary(missing)] : []),
  ].join('\n');
}

interface Entry {
  readonly name: string;
  /** Including the leading separator. */
  readonly words: string;
  readonly tools: string;
}

/** One line without hidden characters that cannot imitate a message of the program. */
function safeLine(text: string): string {
  return oneLine(text).replace(/<(?=\s*\/?\s*system)/gi, '‹');
}

/** The tools of a type as text. */
export function toolWords({ tools, disallowedTools }: AgentDefinition): string {
  const bans = disallowedTools.map(safeLine);
  if (tools === undefined) return bans.length === 0 ? 'all' : `all but ${some(bans)}`;
  // A ban of a whole tool removes it from the list.
  const left = tools.filter((tool) => !disallowedTools.includes(bareName(tool)));
  return left.length === 0 ? 'none' : some(left.map(safeLine));
}

function some(names: readonly string[]): string {
  const more = names.length - MOST_TOOLS;
  const shown = names.slice(0, MOST_TOOLS).map((name) => shortened(name, 60));
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function lineOf({ name, words, tools }: Entry, room: number): string {
  if (words.length + tools.length <= room) return `- ${name}${words}${tools}`;
  // A description without tools still says when to use the type; tools alone do not.
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
  /** The type that forks its parent, where forks are offered. */
  forks(): AgentDefinition | undefined;
  /** Shows a text to the person. */
  tell(text: string): void;
}

/** Creates the listing of the types that an agent may start; undefined when there are none. */
export function openAgentListings(
  parts: AgentListingParts,
): (agent: AgentRef) => Promise<string | undefined> {
  const { book, types, forks, tell } = parts;
  let isTold = false;
  return async (agent) => {
    const kinds = [...(await book.list()), ...[forks() ?? []].flat()];
    // Reported once and after the first request is sent, because people can wait.
    if (!isTold) {
      setImmediate(async () => {
        const notice = await book.problems().then(agentNotice, messageOf);
        if (notice !== undefined) tell(notice);
      });
    }
    isTold = true;
    const text = agentListing(await types.allowed(agent, kinds));
    if (text === '') return undefined;
    return reminder(`These types of agents can be started with the Agent tool:\n\n${text}`);
  };
}
