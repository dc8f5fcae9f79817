import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { ImageBlock, TextBlock } from '../../protocol/content.js';
import type { McpConnection, RawPrompt, RawPromptMessage } from '../server.js';
import { normaliseName, shownName, shownText, toolNameProblem } from '../tools/names.js';
import { imageBlock } from '../tools/output.js';
import { markedResource, oneLine } from './content.js';

/** A server's prompt as a slash command. */
export interface PromptCommand {
  /** `mcp__server__prompt`, without the slash. */
  readonly name: string;
  readonly server: string;
  /** One line for lists. */
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

/** The prompts of all servers, which only people can use. Commands and file mentions in their text have no effect. */
export interface McpPrompts {
  /** Sorted by name; prompts that share a name are left out. */
  list(): Promise<readonly PromptCommand[]>;
  /** Fetches one prompt; the error is for the person. */
  expand(
    typed: TypedPrompt,
    signal: AbortSignal,
  ): Promise<Result<readonly (TextBlock | ImageBlock)[], string>>;
}

const ALL_CHARS = 150_000;
const MOST_MESSAGES = 100;

export function createMcpPrompts(deps: { connections(): readonly McpConnection[] }): McpPrompts {
  return {
    async list() {
      const { entries } = await promptsOf(deps.connections());
      const counts = new Map<string, number>();
      for (const { name } of entries) counts.set(name, (counts.get(name) ?? 0) + 1);
      return entries
        .filter(({ name }) => counts.get(name) === 1)
        .map(commandOf)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async expand(typed, signal) {
      const entry = await findOne(deps.connections(), typed.name);
      if (!entry.ok) return entry;
      const { connection, prompt } = entry.value;
      const args = argumentsFor(prompt, typed);
      if (!args.ok) return args;
      const answer = await connection.getPrompt(prompt.name, args.value, signal);
      if (!answer.ok) return err(answer.error.message);
      const blocks = blocksOf(answer.value, connection.declaration.name);
      return blocks.length === 0 ? err(`/${typed.name}: the server sent nothing`) : ok(blocks);
    },
  };
}

interface Entry {
  readonly name: string;
  readonly connection: McpConnection;
  readonly prompt: RawPrompt;
}

/** Collects the offered prompts, the unusable ones and the servers that returned no list. */
async function promptsOf(connections: readonly McpConnection[]) {
  const entries: Entry[] = [];
  const problems: string[] = [];
  const failures: string[] = [];
  const lists = await Promise.all(connections.map((one) => one.listPrompts()));
  for (const [at, connection] of connections.entries()) {
    const listed = lists[at];
    if (listed?.ok === false) failures.push(listed.error.message);
    for (const prompt of listed?.ok === true ? listed.value : []) {
      // fail-closed: the name shown and the name fetched must be the same.
      const problem = toolNameProblem(prompt.name);
      const name = `mcp__${connection.declaration.key}__${normaliseName(prompt.name)}`;
      if (problem === undefined) entries.push({ name, connection, prompt });
      else problems.push(`${shownName(prompt.name)}: ${problem}`);
    }
  }
  return { entries, problems, failures };
}

/** Asks only servers whose key the command starts with. */
async function findOne(
  connections: readonly McpConnection[],
  name: string,
): Promise<Result<Entry, string>> {
  const possible = connections.filter(({ declaration }) =>
    name.startsWith(`mcp__${declaration.key}__`),
  );
  if (possible.length === 0) return err(`/${name}: no MCP server of that name can be used`);
  const { entries, problems, failures } = await promptsOf(possible);
  const [entry, other] = entries.filter((one) => one.name === name);
  // fail-closed: an ambiguous name runs nothing.
  if (other !== undefined) return err(`/${name} is the name of more than one prompt`);
  if (entry !== undefined) return ok(entry);
  const [failure] = failures;
  if (failure !== undefined) return err(`/${name}: ${failure}`);
  const known = [...new Set(entries.map((one) => `/${one.name}`))].sort();
  const offers = known.length === 0 ? 'none' : sliceWhole(known.join(', '), 0, 500);
  const rest = problems.length === 0 ? '' : `. Not offered: ${problems.slice(0, 5).join('; ')}`;
  return err(`There is no /${name}. Prompts of that server: ${offers}${rest}`);
}

function commandOf({ name, connection, prompt }: Entry): PromptCommand {
  return {
    name,
    server: connection.declaration.name,
    description: oneLine(prompt.description ?? prompt.title ?? ''),
    arguments: (prompt.arguments ?? []).map((one) => ({
      name: oneLine(one.name),
      required: one.required === true,
    })),
  };
}

/** Assigns words to arguments in order; the last argument takes the rest, because people rarely quote. */
function argumentsFor(
  prompt: RawPrompt,
  typed: TypedPrompt,
): Result<Readonly<Record<string, string>>, string> {
  const read = splitArguments(typed.args);
  if (!read.ok) return err(`/${typed.name}: ${read.error}`);
  const wanted = prompt.arguments ?? [];
  const words = [...read.value];
  if (words.length > wanted.length) {
    if (wanted.length === 0) return err(`/${typed.name} takes no arguments`);
    words.splice(wanted.length - 1, words.length, words.slice(wanted.length - 1).join(' '));
  }
  const missing = wanted.filter((one, at) => one.required === true && words[at] === undefined);
  if (missing.length > 0) {
    const names = missing.map((one) => oneLine(one.name)).join(', ');
    return err(`/${typed.name} needs ${names}. Usage: ${usage(typed.name, prompt)}`);
  }
  return ok(Object.fromEntries(words.map((word, at) => [wanted[at]?.name ?? '', word])));
}

function usage(name: string, prompt: RawPrompt): string {
  const parts = (prompt.arguments ?? []).map((one) =>
    one.required === true ? `<${oneLine(one.name)}>` : `[${oneLine(one.name)}]`,
  );
  return [`/${name}`, ...parts].join(' ');
}

/** Splits at blanks; quotes and backslashes work as in a shell. */
export function splitArguments(text: string): Result<readonly string[], string> {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const next = text[at + 1];
    if (char === '\\' && next !== undefined && /["'\\\s]/.test(next) && quote !== "'") {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || (char === "'" && word === undefined)) {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return err(`a quote (${quote}) is not closed`);
  if (word !== undefined) words.push(word);
  return ok(words);
}

/** Joins the messages into one; assistant messages appear as quotations. */
function blocksOf(
  messages: readonly RawPromptMessage[],
  server: string,
): readonly (TextBlock | ImageBlock)[] {
  const blocks: (TextBlock | ImageBlock)[] = [];
  let left = ALL_CHARS;
  for (const { role, content } of messages.slice(0, MOST_MESSAGES)) {
    const block = blockOf(content, { server, left });
    if (block === undefined) continue;
    if (block.type === 'image') {
      blocks.push(block);
      continue;
    }
    left = Math.max(0, left - block.text.length);
    const text =
      role === 'assistant' ? `[assistant, as the prompt has it]\n${block.text}` : block.text;
    blocks.push({ type: 'text', text });
  }
  const more = messages.length - MOST_MESSAGES;
  if (more > 0) blocks.push({ type: 'text', text: `[${more} further messages were cut off]` });
  return blocks;
}

function blockOf(
  content: RawPromptMessage['content'],
  { server, left }: { readonly server: string; readonly left: number },
): TextBlock | ImageBlock | undefined {
  const { type, text, data, resource } = content;
  if (type === 'text' && typeof text === 'string') {
    return text === '' ? undefined : { type: 'text', text: shownText(text, left) };
  }
  // fail-closed: invalid image data would make every later request fail.
  const image = type === 'image' && typeof data === 'string' ? imageBlock(data) : undefined;
  if (image !== undefined) return image;
  if (type === 'resource' && isRecord(resource) && typeof resource.text === 'string') {
    const shown = { uri: String(resource.uri ?? ''), text: shownText(resource.text, left) };
    return { type: 'text', text: markedResource(server, shown) };
  }
  return { type: 'text', text: `[content of type "${oneLine(type)}" is not shown]` };
}

export interface TypedPrompt {
  readonly name: string;
  readonly args: string;
}

/** Parses `/mcp__server__prompt arguments` without checking that the prompt exists. */
export function readTypedPrompt(text: string): TypedPrompt | undefined {
  const match = /^\s*\/(mcp__[A-Za-z0-9_-]+)(?:\s+([\s\S]*))?$/.exec(text);
  const name = match?.[1];
  return name === undefined ? undefined : { name, args: (match?.[2] ?? '').trim() };
}
