import { sha256 } from '../../platform/hash.js';
import { DEFAULT_AGENT, DEFAULT_AGENT_ALIAS } from '../../protocol/agent-ref.js';
import explore from './builtin-explore.md';
import general from './builtin-general.md';
import plan from './builtin-plan.md';
import statusLine from './builtin-statusline.md';
import { type AgentDefinition, DEFAULT_FIELDS } from './definition.js';

const STATUS_LINE_AGENT = 'statusline-setup';

/** Built-in agents that are left out of the listing to keep requests small. */
export const UNLISTED_AGENTS: ReadonlySet<string> = new Set([
  DEFAULT_AGENT_ALIAS,
  STATUS_LINE_AGENT,
]);

/** Tools that read-only agents do not get. */
const EDITING: readonly string[] = [
  'Agent',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Write',
  'WriteDraft',
];

/** The built-in agents; a file of the same name replaces one. */
export function builtinAgents(): readonly AgentDefinition[] {
  return [
    builtin(DEFAULT_AGENT, GENERAL, general),
    builtin(DEFAULT_AGENT_ALIAS, GENERAL, general),
    looking('Explore', EXPLORE, explore),
    looking('Plan', PLAN, plan),
    builtin(STATUS_LINE_AGENT, STATUS_LINE, statusLine, { tools: ['Read', 'Edit'] }),
  ];
}

const GENERAL =
  'For tasks of several steps and open-ended research: searching when the first attempts may miss, changing files, running commands. Has all tools.';
const EXPLORE =
  'Looks through a code base quickly without changing anything: finds files by pattern, searches for words, answers how something works. Say how thorough it should be: quick, medium or very thorough.';
const PLAN =
  'Works out how to make a change before it is made, without changing anything: reads the code, weighs designs, gives steps, files and risks.';
const STATUS_LINE = 'Sets up the status line in the user’s settings.';

function builtin(
  name: string,
  description: string,
  text: string,
  own: Partial<AgentDefinition> = {},
): AgentDefinition {
  return {
    name,
    description,
    prompt: async () => text.trim(),
    ...DEFAULT_FIELDS,
    source: 'builtin',
    ...own,
    contentHash: () => sha256(JSON.stringify([name, description, text])),
  };
}

/** A read-only agent that starts with little context and ends with its answer. */
function looking(name: string, description: string, text: string): AgentDefinition {
  const own = { disallowedTools: EDITING, omitInstructions: true, oneShot: true };
  return builtin(name, description, text, own);
}
