import { createInterface, type Interface } from 'node:readline';
import { turnEnd } from '../client/turn-end.js';
import { PortcullisError } from '../errors.js';
import type { AgentSession, InputMessage, LoopEvent, SessionNews, TeamRole } from '../harness.js';
import { knownLimits, openSession } from '../harness.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { printable } from '../util/printable.js';
import { createPersonAsker } from './ask-person.js';
import { currentText } from './current-text.js';
import { withDebug } from './debug.js';
import { onDoubleEscape } from './double-escape.js';
import { createPersonElicit } from './elicit-person.js';
import { EXIT } from './exit-code.js';
import { askAboutIncludes } from './include-question.js';
import { askAboutServers } from './mcp-start.js';
import type { PrintDeps } from './print.js';
import { createRenderer } from './render.js';
import { arrivalText, createWaiting } from './repl-team.js';
import { hasTerminal, TerminalInput } from './terminal-input.js';
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
  /team           who works in the team, and how they stand
  /changes [agent] what this session changed, and who did it
  /rewind         back to an earlier point: files, conversation or both (Esc Esc on an empty line; /rewind redo)
  /cost           tokens and cost so far
  /help           this text
  /exit           leave`;

/** A plain, line-based conversation. */
export async function runRepl(deps: PrintDeps): Promise<number> {
  const { output } = deps;
  output.open();
  const terminal = hasTerminal();
  const reader = createInterface({ input: process.stdin, output: process.stdout, terminal });
  const input = new TerminalInput({
    reader,
    keys: process.stdin,
    isTerminal: terminal,
    out: output.out,
  });
  const show = createRenderer({
    colour: terminal && process.env.NO_COLOR === undefined,
    width: Math.max(40, (process.stdout.columns ?? 100) - 4),
  });
  const emit = (event: LoopEvent | SessionNews): void => {
    const text = event.type === 'input' ? arrivalText(event.message) : show(event);
    if (text !== undefined && text !== '') output.out(`${text}\n`);
  };
  const { ask } = input;
  const person = { ask, out: output.out, readCurrent: currentText };
  const turns = createTurns();
  const askPerson = createPersonAsker(person);
  const leaving = handleInterrupts(reader, input);
  const { team = leadOf(deps) } = deps.config;
  // What the lead was told holds for those who work for it: they are not asked once more.
  const isOwn = terminal && team.kind === 'lead';
  const projectTrust = isOwn
    ? await settleTrust({ config: deps.config, out: output.out, ask })
    : undefined;
  if (isOwn && projectTrust === undefined) {
    reader.close();
    return EXIT.error;
  }
  const about = { config: deps.config, trust: projectTrust, out: output.out, ask };
  if (isOwn) await askAboutServers(about);
  if (terminal) {
    onDoubleEscape(process.stdin, () => {
      if (input.isAtPrompt && reader.line === '') input.lines.push('/rewind');
    });
  }
  const session = await openSession({
    ...deps.config,
    projectTrust,
    team,
    emit: withDebug(output, emit),
    // fail-closed: only a terminal answers; what a pipe holds was written before the question.
    ...(terminal && { asker: (request) => turns(() => askPerson(request)) }),
    ...(terminal && { elicit: createPersonElicit(person, turns) }),
    serversMayComeLater: terminal,
    // fail-closed: where no person sees the question, nothing is approved.
    askIncludes: isOwn ? askAboutIncludes({ out: output.out, ask }) : undefined,
  });
  deps.onOpen(session);
  leaving.session = session;
  const info = session.info();
  output.out(`Portcullis · ${info.model} · ${info.cwd} · mode ${info.mode}\n/help for help\n`);
  try {
    for (const prompts of await session.begin()) await turnOf(session, prompts, deps);
    if (deps.options.prompt !== undefined) await turn(session, deps.options.prompt, deps);
    const nextInput = createWaiting(session, input.lines);
    for (;;) {
      const prompted = session.awaitPrompt();
      const next = await input.prompt(nextInput);
      prompted();
      if (next.kind === 'over') break;
      if (next.kind === 'arrival') {
        await turnOf(session, next.messages, deps);
        continue;
      }
      const { line } = next;
      if (line === undefined) break;
      const text = line.trim();
      if (text === '') continue;
      if (text === '/exit' || text === '/quit') break;
      if (/^\/rewind(\s|$)/.test(text)) await rewindFrom(session, text, { deps, input });
      else if (text.startsWith('/')) await tryCommand(session, text, deps);
      else await turn(session, text, deps);
    }
    return leaving.byInterrupt ? EXIT.interrupted : EXIT.done;
  } finally {
    reader.close();
    await session.close('prompt_input_exit');
  }
}

interface Leaving {
  /** Once it is open: before that Ctrl+C ends the program. */
  session?: AgentSession;
  byInterrupt: boolean;
}

/** A second Ctrl+C this soon after the first one leaves. */
const TWICE_MS = 3_000;

/**
 * Ctrl+C, which readline takes for itself on a terminal: leaves an open question without an answer, or
 * interrupts the turn. At the prompt the first one clears what is typed and the second one leaves.
 */
function handleInterrupts(reader: Interface, input: TerminalInput): Leaving {
  const leaving: Leaving = { byInterrupt: false };
  let last = Number.NEGATIVE_INFINITY;
  reader.on('SIGINT', () => {
    const isSecond = performance.now() - last < TWICE_MS;
    if (leaving.session === undefined) process.kill(process.pid, 'SIGINT');
    else if (input.isAtPrompt && isSecond) {
      leaving.byInterrupt = true;
      input.lines.end();
    } else if (input.isAtPrompt) {
      last = performance.now();
      input.clear('Press Ctrl+C again to quit.');
    } else if (!input.cancelQuestion()) process.kill(process.pid, 'SIGINT');
  });
  return leaving;
}

/** A conversation may have a team, which is started by this program once more. */
function leadOf({ options }: PrintDeps): TeamRole {
  const program = [process.execPath, ...process.argv.slice(1, 2)];
  return { kind: 'lead', way: options.teammateMode, program };
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
  const problem = turnEnd(run.outcome.reason).problem;
  if (problem !== '') deps.output.out(`! ${printable(problem)}\n`);
}

/** A prompt that is taken back stands in the line again, to be changed. */
async function rewindFrom(
  session: AgentSession,
  text: string,
  { deps, input }: { deps: PrintDeps; input: TerminalInput },
): Promise<void> {
  const { out } = deps.output;
  await tried(deps, async () => {
    const { rewindCommand } = await import('./repl-rewind.js');
    const words = text.split(/\s+/).slice(1);
    const prompt = await rewindCommand(session, words, { out, ask: input.ask });
    if (prompt === undefined) return;
    out(`taken back: ${printable(prompt)}\n`);
    input.offer(printable(prompt).replaceAll('\n', ' '));
  });
}

function tryCommand(session: AgentSession, text: string, deps: PrintDeps): Promise<void> {
  return tried(deps, () => command(session, text, deps));
}

/** A command that is refused says why; the conversation goes on. */
async function tried(deps: PrintDeps, work: () => Promise<void>): Promise<void> {
  try {
    await work();
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
      output.out(`model: ${printable(session.info().model)}\n`);
      return knownLimits(session.info().model) === undefined
        ? output.out('! This model is not known here: its name is checked by the next request.\n')
        : undefined;
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
      const before = session.info().mode;
      if (mode !== undefined) session.setMode(mode);
      // The session itself reports a change.
      return session.info().mode === before ? output.out(`mode: ${before}\n`) : undefined;
    }
    case 'compact':
      await session.compact(argument === '' ? undefined : argument);
      return;
    case 'context': {
      const { contextText } = await import('../project/context-text.js');
      return output.out(contextText(await session.context(), session.info().cwd));
    }
    case 'hooks': {
      const { hookListText } = await import('../project/hooks-report.js');
      return output.out(`${await hookListText(session.hooks(), session.info().cwd)}\n`);
    }
    case 'mcp': {
      const { mcpCommand } = await import('./repl-mcp.js');
      return output.out(`${await mcpCommand(session, rest)}\n`);
    }
    case 'changes': {
      const { changesCommand } = await import('./repl-rewind.js');
      return output.out(`${await changesCommand(session, argument)}\n`);
    }
    case 'team': {
      const { teamLines } = await import('../project/teams-text.js');
      const team = session.team?.view();
      return output.out(
        `${team === undefined ? 'There is no team.' : teamLines(team).join('\n')}\n`,
      );
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
