import { createInterface } from 'node:readline';
import type { SessionConfig } from '../../agents/session-config.js';
import { isRunByAgent } from '../../env/run-by-agent.js';
import { PortcullisError } from '../../errors.js';
import type { OpenServersOfSession } from '../../harness/mcp-servers.js';
import type { ClientConnection } from '../../mcp/connection.js';
import { nearest } from '../../util/nearest.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { createPersonAsker } from '../ask-person.js';
import { currentText } from '../current-text.js';
import { createPersonElicit } from '../elicit-person.js';
import { TerminalInput } from '../terminal-input.js';
import { createTurns } from '../turns.js';
import type { ToolsHere } from './tools-here.js';

/** The connection of a server that may be used, or an error that says why there is none. */
export function connectionNamed(
  { parts }: ToolsHere,
  name: string,
): { readonly mcp: OpenServersOfSession; readonly connection: ClientConnection } {
  const { mcp } = parts;
  const statuses = mcp?.statuses() ?? [];
  const connection = mcp?.servers.find(name);
  if (mcp !== undefined && connection !== undefined) return { mcp, connection };
  const status = statuses.find((one) => one.name === name);
  if (status !== undefined) {
    const why = status.error ?? status.state;
    throw new PortcullisError('config', `"${visible(name)}" cannot be used: ${visible(why)}`, {
      remedy: `portcullis mcp get ${visible(shellWord(name))} shows it`,
    });
  }
  const meant = nearest(
    name,
    statuses.map((one) => one.name),
  );
  throw new PortcullisError('usage', `there is no MCP server "${visible(name)}" here`, {
    remedy:
      meant === undefined ? 'portcullis mcp list shows them' : `did you mean "${visible(meant)}"?`,
  });
}

/** Connects a server and takes its tools into the pool. The failure, fit to be shown. */
export async function bringUp(
  { parts }: ToolsHere,
  { mcp, connection }: ReturnType<typeof connectionNamed>,
): Promise<string | undefined> {
  const connected = await connection.connect();
  if (!connected.ok) return connected.error.message;
  parts.hands.lateTools.add(await mcp.ask(connection));
  return undefined;
}

export interface PersonHere extends Pick<SessionConfig, 'asker' | 'elicit'> {
  close(): void;
}

/** The person at the terminal. Standard output stays the answer's; questions go beside it. */
export function personHere(): PersonHere {
  // fail-closed: the shell of an agent is no person, and neither is a pipe.
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true || isRunByAgent(process.env)) {
    return { close: () => undefined };
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const out = (text: string): void => void process.stderr.write(text);
  const input = new TerminalInput({ reader, keys: process.stdin, isTerminal: true, out });
  const person = { ask: input.ask, out, readCurrent: currentText };
  const turns = createTurns();
  const ask = createPersonAsker(person);
  return {
    asker: (request) => turns(() => ask(request)),
    elicit: createPersonElicit(person, turns),
    close: () => reader.close(),
  };
}
