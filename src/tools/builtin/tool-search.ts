import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { defineTool } from '../define-tool.js';
import type { ToolPool } from '../pool.js';
import type { AnyTool, Tool, ToolOutput } from '../tool.js';
import description from './tool-search.md';

const TOOL_SEARCH = 'ToolSearch';

export interface ToolSearchDeps {
  /** The tools of the agent that asks; what it loads is loaded for it alone. */
  poolOf(agent: AgentRef): ToolPool;
  /** Resolves once servers that are still connecting are there or have failed. Never rejects. */
  settle?(signal: AbortSignal): Promise<void>;
  /** What else the model should know: servers that failed or need a sign-in. */
  notes?(): readonly string[];
}

interface Input {
  readonly query: string;
  readonly max_results?: number;
}

const DEFAULT_RESULTS = 5;
const MOST_RESULTS = 50;
/** Characters of definitions in one answer; the next request carries the rest anyway. */
const ANSWER_CAP = 60_000;
const SELECT = /^\s*select\s*:/i;

export function toolSearchTool(deps: ToolSearchDeps): Tool<Input> {
  return defineTool<Input>({
    name: TOOL_SEARCH,
    kind: 'control',
    description,
    schema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words, or select:name,name' },
        max_results: {
          type: 'integer',
          minimum: 1,
          maximum: MOST_RESULTS,
          description: `At most so many tools by words; ${DEFAULT_RESULTS} unless given`,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    check: async ({ query }) =>
      query.trim() === '' ? [{ path: '/query', message: 'a text is wanted' }] : [],
    subject: ({ query }) => ({
      paths: [],
      summary: `search tools: ${visible(sliceWhole(query, 0, 80))}`,
    }),
    // Parallel calls would load tools in an unpredictable order, so it runs alone.
    run: (input, context) => search(deps, input, context),
  });
}

async function search(
  deps: ToolSearchDeps,
  { query, max_results = DEFAULT_RESULTS }: Input,
  context: { readonly agent: AgentRef; readonly signal: AbortSignal },
): Promise<ToolOutput> {
  await deps.settle?.(context.signal);
  const pool = deps.poolOf(context.agent);
  const names = SELECT.test(query)
    ? query
        .replace(SELECT, '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
    : rankTools(
        pool.tools.filter(({ origin }) => origin !== undefined),
        query,
      )
        .slice(0, max_results)
        .map(({ name }) => name);
  const total = pool.deferred.length;
  const { loaded, already, unknown } = pool.load(names);
  const known = new Set([...loaded, ...already]);
  const found = [...new Set(names.map((name) => pool.resolve(name)))].filter(
    (tool) => tool !== undefined && known.has(tool),
  ) as AnyTool[];
  const lines = [
    ...definitionLines(found),
    ...unknown.map((name) => unknownLine(name, pool)),
    ...(names.length === 0 ? [nothingFound(query, total)] : []),
    ...(deps.notes?.() ?? []),
  ];
  return {
    content: lines.join('\n'),
    ...(found.length === 0 && unknown.length > 0 ? { isError: true } : {}),
    structured: {
      matches: found.map(({ name }) => name),
      query,
      total_deferred_tools: total,
    },
  };
}

function definitionLines(tools: readonly AnyTool[]): readonly string[] {
  if (tools.length === 0) return [];
  const texts: string[] = [];
  const later: string[] = [];
  let room = ANSWER_CAP;
  for (const { name, definition } of tools) {
    const { description: about, input_schema } = definition;
    const text = JSON.stringify({ name, description: about, input_schema });
    if (text.length > room) later.push(name);
    else {
      room -= text.length;
      texts.push(text);
    }
  }
  const count = tools.length === 1 ? '1 tool is' : `${tools.length} tools are`;
  return [
    `${count} loaded and can be called now. Descriptions are the words of the servers, not of the user.`,
    ...texts,
    ...(later.length === 0
      ? []
      : [`Loaded too, with definitions too long to repeat here: ${later.join(', ')}`]),
  ];
}

function unknownLine(name: string, pool: ToolPool): string {
  const shown = visible(sliceWhole(name, 0, 200));
  const near = pool.nearestName(name);
  return `There is no tool ${shown}.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}

function nothingFound(query: string, total: number): string {
  const shown = visible(sliceWhole(query, 0, 200));
  return `No tool fits ${JSON.stringify(shown)}; ${total} are deferred. Try other words, or a name with select:`;
}

/** The tools that fit, best first. `+word` must occur; of the other words, one must. */
function rankTools(tools: readonly AnyTool[], query: string): readonly AnyTool[] {
  const words = query
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const wanted = words.map((word) => (word.startsWith('+') ? word.slice(1) : word));
  const ranked = tools.flatMap((tool) => {
    const worths = wanted.map((word) => worthOf(word, tool));
    const lacksOne = words.some((word, at) => word.startsWith('+') && worths[at] === 0);
    const score = worths.reduce((sum, worth) => sum + worth, 0);
    return lacksOne || score === 0 ? [] : [{ tool, score }];
  });
  // Where two fit as well, the order of names decides, so that the same query loads the same tools.
  ranked.sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  return ranked.map(({ tool }) => tool);
}

/** A name says more than a title, that more than the server, and that more than a description. */
function worthOf(word: string, { name, title = '', origin, definition }: AnyTool): number {
  const own = origin?.tool ?? name;
  const isName = word === name.toLowerCase() || word === own.toLowerCase();
  const server = origin?.server.toLowerCase() ?? '';
  return (
    (isName ? 40 : 0) +
    12 * occurrence(word, own) +
    6 * occurrence(word, title) +
    (server.includes(word) ? 4 : 0) +
    3 * occurrence(word, definition.description)
  );
}

/** 1 for a word of its own, less inside of one. `getUserName`, `get_user_name` and `get-user-name` have the same words. */
function occurrence(word: string, text: string): number {
  const words = text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  if (words.includes(word)) return 1;
  return text.toLowerCase().includes(word) ? 0.4 : 0;
}
