import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { visible } from '../../lib/text/visible.js';
import { readAskAnswer } from '../../permissions/gate/questions.js';
import type { AskAnswer, Asker } from '../../permissions/gate/types.js';
import type { ClientConnection } from '../connection/connection.js';
import type { RawCallResult } from '../server.js';
import type { ServerListing } from '../tools/listing.js';
import { toolNames } from '../tools/names.js';

export interface PromptToolParts {
  connections(): readonly ClientConnection[];
  listing(server: string): ServerListing | undefined;
  isBanned(names: readonly string[]): boolean;
}

interface PromptTool {
  readonly connection: ClientConnection;
  readonly tool: string;
}

/** Lets an MCP tool answer permission questions that no rule decides; `name` is its full name. */
export function openPromptTool(name: string, parts: PromptToolParts) {
  return {
    asker: promptToolAsker(name, parts),
    /** Throws when no such tool exists. */
    require: (): void => requirePromptTool(name, parts),
  };
}

/** fail-closed: anything but a clear "allow" denies. */
function promptToolAsker(name: string, parts: PromptToolParts): Asker {
  return async ({ call }) => {
    const found = findPromptTool(name, parts);
    if (found === undefined) return no(`there is no tool ${name}`);
    const { toolUseId, input, tool, signal } = call;
    const asked = { tool_name: tool.name, input, tool_use_id: toolUseId };
    const called = await found.connection.call({ tool: found.tool, arguments: asked }, signal);
    if (!called.ok) return no(called.error.message);
    const answer = answerIn(called.value);
    if (answer.behavior === 'deny') return answer;
    // fail-closed: a question that needs a person is not answered by a program.
    if (tool.needsPerson === true) return no(`${tool.name} needs a person`);
    const { updatedInput } = answer;
    // Only this call is answered: suggested rules in the answer are ignored.
    return { behavior: 'allow', updatedInput };
  };
}

/** fail-closed: a run does not start when its prompt tool does not exist. */
function requirePromptTool(name: string, parts: PromptToolParts): void {
  if (findPromptTool(name, parts) !== undefined) return;
  const names = parts
    .connections()
    .flatMap(({ declaration }) =>
      (parts.listing(declaration.name)?.tools ?? []).map(
        (tool) => toolNames(declaration.key, tool.name).name,
      ),
    );
  const known = names.length === 0 ? 'there are no tools of servers here' : names.join(', ');
  throw new PortcullisError(
    'config',
    `--permission-prompt-tool: there is no MCP tool ${visible(name)}`,
    { remedy: `name one of: ${visible(known)}` },
  );
}

function findPromptTool(
  name: string,
  { connections, listing, isBanned }: PromptToolParts,
): PromptTool | undefined {
  // fail-closed: a denied tool may not decide about others.
  if (isBanned([name])) return undefined;
  for (const connection of connections()) {
    const { key, name: server } = connection.declaration;
    const found = listing(server)?.tools.find((tool) => {
      const names = toolNames(key, tool.name);
      return names.name === name || names.long === name;
    });
    if (found !== undefined) return { connection, tool: found.name };
  }
  return undefined;
}

function answerIn({ content, isError }: RawCallResult): AskAnswer {
  const text = content
    .flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : []))
    .join('');
  if (isError === true) return no('it answered with an error');
  const parsed = parseJson(text);
  if (!parsed.ok) return no('its answer is no JSON');
  const read = readAskAnswer(parsed.value);
  return read.ok ? read.value : no(read.error);
}

function no(why: string): AskAnswer {
  return { behavior: 'deny', message: `The permission prompt tool gave no permission: ${why}` };
}
