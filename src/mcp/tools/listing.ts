import { isRecord } from '../../lib/own.js';
import { ok, type Result } from '../../lib/result.js';
import type { McpConnection, RawTool, SafeError, ServerDeclaration } from '../server.js';
import { checkDefinition, shownInstructions } from './definition-check.js';
import { definingParts, toolFingerprint } from './fingerprint.js';
import { shownName, shownText, toolNameProblem, toolNames } from './names.js';

export interface ListedTool {
  /** The server's name for the tool. */
  readonly name: string;
  readonly fingerprint: string;
  /** Characters of its definition. */
  readonly size: number;
  readonly alwaysLoad: boolean;
  readonly raw: RawTool;
}

/** A server's checked tools: names are unique and definitions usable. */
export interface ServerListing {
  readonly tools: readonly ListedTool[];
  /** Sanitised for the model. */
  readonly instructions?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** The tools left out, with reasons. */
  readonly problems: readonly string[];
  /** Whether the server has resources for the resource tools. */
  readonly hasResources?: boolean;
}

export interface ListingSource {
  readonly declaration: Pick<ServerDeclaration, 'name' | 'key'> &
    Partial<Pick<ServerDeclaration, 'entry'>>;
  readonly tools: readonly RawTool[];
  readonly instructions?: string | undefined;
  readonly serverInfo?: { readonly name: string; readonly version: string } | undefined;
}

export const MOST_TOOLS = 1_000;
const LARGEST_DEFINITION = 256 * 1024;
/** Characters of definitions that a server itself may put into every request. */
const MOST_ALWAYS = 24_000;
/** Characters of JSON per token, as in the estimates of requests. */
const CHARS_PER_TOKEN = 3;

/** Checks all tools of a server, sorted by name; of colliding names the first stays. */
export function listingOf(source: ListingSource): ServerListing {
  const { declaration } = source;
  const of = `of the MCP server ${shownName(declaration.name)}`;
  const problems: string[] = [];
  const taken = new Map<string, string>();
  const tools: ListedTool[] = [];
  for (const raw of [...source.tools].sort(byName)) {
    if (tools.length >= MOST_TOOLS) {
      const count = `${MOST_TOOLS} of ${source.tools.length}`;
      problems.push(`only the first ${count} tools ${of} are offered`);
      break;
    }
    const problem = problemOf(raw, declaration.key, taken);
    if (problem === undefined) tools.push(listed(raw));
    else problems.push(`the tool ${shownName(raw.name)} ${of} is not offered: ${problem}`);
  }
  const instructions = shownInstructions(source.instructions);
  const { serverInfo } = source;
  const always = alwaysWithin(tools, source);
  const more = problems.length - MOST_PROBLEMS;
  const rest = more > 0 ? [`${more} more tools ${of} are not offered`] : [];
  return {
    tools: always.tools,
    problems: [...problems.slice(0, MOST_PROBLEMS), ...rest, ...always.problems],
    instructions,
    serverInfo: serverInfo === undefined ? undefined : shownInfo(serverInfo),
  };
}

/** Fetches and checks a server's tools. */
export async function fetchListing(
  connection: Pick<McpConnection, 'declaration' | 'listTools' | 'status'>,
): Promise<Result<ServerListing, SafeError>> {
  const { declaration } = connection;
  const listed = await connection.listTools();
  if (!listed.ok) return listed;
  const { instructions, serverInfo } = connection.status();
  return ok(listingOf({ declaration, tools: listed.value, instructions, serverInfo }));
}

/**
 * Honours the server's `alwaysLoad` marks only up to a limit; beyond it, the person's entry or the host
 * decides how much of the context a server may take.
 */
function alwaysWithin(
  tools: readonly ListedTool[],
  { declaration }: ListingSource,
): Pick<ServerListing, 'tools' | 'problems'> {
  const { entry, name } = declaration;
  const marked = tools.filter(({ alwaysLoad }) => alwaysLoad);
  const size = sizeOf(marked);
  if (size <= MOST_ALWAYS || entry?.type === 'sdk' || entry?.alwaysLoad === true)
    return { tools, problems: [] };
  const problem = `the MCP server ${shownName(name)} wants ${marked.length} tools with ${size} characters of definitions in every request, more than ${MOST_ALWAYS}: they are told like others; "alwaysLoad": true in its entry allows it`;
  return { tools: tools.map((tool) => ({ ...tool, alwaysLoad: false })), problems: [problem] };
}

/** Estimates the tokens of these definitions in a request. */
export function definitionTokens(listings: Iterable<Pick<ServerListing, 'tools'>>): number {
  const size = [...listings].reduce((sum, { tools }) => sum + sizeOf(tools), 0);
  return Math.ceil(size / CHARS_PER_TOKEN);
}

function sizeOf(tools: readonly Pick<ListedTool, 'size'>[]): number {
  return tools.reduce((sum, { size }) => sum + size, 0);
}

export function listed(raw: RawTool): ListedTool {
  return {
    name: raw.name,
    fingerprint: toolFingerprint(raw),
    size: JSON.stringify([raw.name, raw.description, raw.inputSchema]).length,
    alwaysLoad: isRecord(raw._meta) && raw._meta['anthropic/alwaysLoad'] === true,
    raw,
  };
}

/** A server may have thousands of problems. */
const MOST_PROBLEMS = 20;

function problemOf(raw: RawTool, key: string, taken: Map<string, string>): string | undefined {
  const named = toolNameProblem(raw.name);
  if (named !== undefined) return named;
  const { name, long = name } = toolNames(key, raw.name);
  const other = taken.get(long) ?? taken.get(name);
  // fail-closed: a rule or approval for the name would apply to two tools.
  if (other !== undefined) {
    return `${shownName(other)} has the same name ${name} once other characters are underscores`;
  }
  const size = JSON.stringify(definingParts(raw)).length;
  if (size > LARGEST_DEFINITION) return `its definition has ${size} characters`;
  const checked = checkDefinition(raw);
  if (!checked.ok) return checked.error;
  taken.set(long, raw.name);
  taken.set(name, raw.name);
  return undefined;
}

function byName(a: RawTool, b: RawTool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function shownInfo({ name, version }: { readonly name: string; readonly version: string }) {
  return { name: shownText(String(name), 100), version: shownText(String(version), 100) };
}
