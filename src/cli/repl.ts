import { createInterface } from 'node:readline';
import { PortcullisError } from '../errors.js';
import type { AgentSession, InputMessage, LoopEvent, SessionNews } from '../harness.js';
import { openSession } from '../harness.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { describeEnd } from '../server/result.js';
import { printable } from '../util/printable.js';
import { createPersonAsker } from './ask-person.js';
import { withDebug } from './debug.js';
import { createPersonElicit } from './elicit-person.js';
import { EXIT } from './exit-code.js';
import { askAboutIncludes } from './include-question.js';
import { LineQueue } from './line-queue.js';
import { askAboutServers } from './mcp-start.js';
import type { PrintDeps } from './print.js';
import { createRenderer } from './render.js';
import { settleTrust } from './trust-question.js';
import { createTurns } from './turns.js';

const HELP = `Type a prompt and press Enter. Ctrl+C interrupts the running turn, Ctrl+D leaves.
  /model [name]   show or change the model
  /mode [mode]    show or change the permission mode (${PERMISSION_MODES.join(', ')})
  /add-dir <path> let the agent work in one more directory
  /compact [what] summarise the conversation, keeping what you name
  /context        what the model is shown, by file, and how full its window is
  /mcp            the MCP servers and how they stand (/mcp reconnect|enable|disable <name>)
  /hooks          the hooks in force and how long each took
  /cost           tokens and cost so far
  /help           this text
  /exit           leave`;

/** A plain, line-based conversation. */
export async function runRepl(deps: PrintDeps): Promise<number> {
  const { output } = deps;
  const terminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const reader = createInterface({ input: process.stdin, output: process.stdout, terminal });
  const lines = new LineQueue();
  reader.on('line', (line) => lines.push(line));
  reader.on('close', () => lines.end());
  const show = createRenderer({
    colour: terminal && process.env.NO_COLOR === undefined,
    width: Math.max(40, (process.stdout.columns ?? 100) - 4),
  });
  const emit = (event: LoopEvent | SessionNews): void => {
    const text = show(event);
    if (text !== undefined && text !== '') output.out(`${text}\n`);
  };
  const person = { lines, out: output.out, freshOnly: terminal };
  const turns = createTurns();
  const ask = createPersonAsker(person);
  // readline takes Ctrl+C for itself on a terminal.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const nextLine = (): Promise<string | undefined> => lines.next();
  const projectTrust = terminal
    ? await settleTrust({ config: deps.config, out: output.out, nextLine })
    : undefined;
  if (terminal && projectTrust === undefined) {
    reader.close();
    return EXIT.error;
  }
  const about = { config: deps.config, trust: projectTrust, out: output.out, nextLine };
  if (terminal) await askAboutServers(about);
  const session = await openSession({
    ...deps.config,
    projectTrust,
    emit: withDebug(output, emit),
    asker: (request) => turns(() => ask(request)),
    elicit: createPersonElicit(person, turns),
    serversMayComeLater: terminal,
    // fail-closed: where no person sees the question, nothing is approved.
    askIncludes: terminal ? askAboutIncludes({ out: output.out, nextLine }) : undefined,
  });
  deps.onOpen(session);
  const info = session.info();
  output.out(`Portcullis · ${info.model} · ${info.cwd} · mode ${info.mode}\n/help for help\n`);
  try {
    for (const prompts of await session.begin()) await turnOf(session, prompts, deps);
    if (deps.options.prompt !== undefined) await turn(session, deps.options.prompt, deps);
    for (;;) {
      output.out('> ');
      const line = await lines.next();
      if (line === undefined) break;
      const text = line.trim();
      if (text === '') continue;
      if (text === '/exit' || text === '/quit') break;
      if (text.startsWith('/')) await tryCommand(session, text, deps);
      else await turn(session, text, deps);
    }
    return EXIT.done;
  } finally {
    reader.close();
    await session.close('prompt_input_exit');
  }
}

function turn(session: AgentSession, text: string, deps: PrintDeps): Promise<void> {
  return turnOf(session, [{ uuid: deps.uuid(), content: [{ type: 'text', text }] }], deps);
}

async function turnOf(
  session: AgentSession,
  prompts: readonly InputMessage[],
  deps: PrintDeps,
): Promise<void> {
  const run = await session.run(prompts);
  const problem = describeEnd(run.outcome.reason);
  if (problem !== '') deps.output.out(`! ${printable(problem)}\n`);
}

/** A command that is refused says why; the conversation goes on. */
async function tryCommand(session: AgentSession, text: string, deps: PrintDeps): Promise<void> {
  try {
    await command(session, text, deps);
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    const remedy = thrown.remedy === undefined ? '' : ` · ${thrown.remedy}`;
    deps.output.out(`! ${printable(`${thrown.message}${remedy}`)}\n`);
  }
}

async function command(session: AgentSession, text: string, deps: PrintDeps): Promise<void> {
  const { output } = deps;
  const [name = '', ...rest] = text.slice(1).split(/\s+/);
  const argument = rest.join(' ');
  switch (name) {
    case 'help':
      return output.out(`${HELP}\n`);
    case 'model':
      if (argument !== '') await session.setModel(argument, 'command');
      return output.out(`model: ${session.info().model}\n`);
    case 'add-dir':
      if (argument === '') return output.out('! name a directory: /add-dir <path>\n');
      await session.addDirectory(argument);
      return output.out(
        `directories: ${printable(session.info().additionalDirectories.join(', '))}\n`,
      );
    case 'mode': {
      const mode = PERMISSION_MODES.find((known: PermissionMode) => known === argument);
      if (argument !== '' && mode === undefined)
        return output.out(`! one of ${PERMISSION_MODES.join(', ')}\n`);
      if (mode !== undefined) session.setMode(mode);
      return output.out(`mode: ${session.info().mode}\n`);
    }
    case 'compact':
      await session.compact(argument === '' ? undefined : argument);
      return;
    case 'context': {
      const { contextText } = await import('./commands/context-text.js');
      return output.out(contextText(await session.context(), session.info().cwd));
    }
    case 'hooks': {
      const { hooksText } = await import('./repl-hooks.js');
      return output.out(`${await hooksText(session.hooks(), session.info().cwd)}\n`);
    }
    case 'mcp': {
      const { mcpCommand } = await import('./repl-mcp.js');
      return output.out(`${await mcpCommand(session, rest)}\n`);
    }
    case 'cost':
      return output.out(`${printable(costText(session))}\n`);
    default:
      return await turn(session, text, deps);
  }
}

function costText(session: AgentSession): string {
  const { cost, modelUsage, agents = [] } = session.accounts();
  const unknown =
    cost.unknownModels.length === 0
      ? ''
      : `, plus an unknown amount for ${cost.unknownModels.join(', ')} (no price known)`;
  const rows = agents.map(({ agent, requests, cost_usd }) => {
    const price = typeof cost_usd === 'number' ? `$${cost_usd.toFixed(4)}` : 'price not known';
    return `\n  ${agent}: ${requests} calls, ${price}`;
  });
  return `$${cost.knownUsd.toFixed(4)}${unknown}${rows.join('')}\n${JSON.stringify(modelUsage, null, 2)}`;
}
