import type { AgentSession } from '../../app.js';
import { isRunByAgent, openInboxOf } from '../../app.js';
import { visible, visibleText } from '../../lib/text/visible.js';
import { changesText } from '../../project/changes-text.js';
import { hookListText } from '../../project/hooks/hooks-report.js';
import { receiptText } from '../../project/receipt-text.js';
import { teamLines } from '../../project/teams-text.js';
import type { McpServerStatusRow } from '../../protocol/mcp-status.js';
import { type CommandContext, defineCommand, failed, text } from './command.js';

export const changes = defineCommand({
  name: 'changes',
  summary: 'Show what this session changed, and who did it',
  argumentHint: '[agent]',
  complete: async ({ session }) => {
    const found = (await (await session.changes.journal())?.changes({})) ?? [];
    const agents = found.flatMap(({ authors }) =>
      authors.flatMap((author) => ('agent' in author ? [author.agent.path] : [])),
    );
    return [...new Set(agents)].map((path) => ({ text: path }));
  },
  async run({ session }, argument) {
    const journal = await session.changes.journal();
    if (journal === undefined) return failed(journalOff(session));
    return text(changesText(await journal.changes(argument === '' ? {} : { agent: argument })));
  },
});

export function journalOff({ changes: { off } }: Pick<AgentSession, 'changes'>): string {
  return `Changes are not recorded: ${visible(off ?? 'the journal is off')}.`;
}

const MCP_ACTIONS = ['reconnect', 'enable', 'disable'] as const;

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'List the MCP servers, reconnect one, turn one on or off',
  argumentHint: '[reconnect|enable|disable <name>]',
  argumentFrom: 'client',
  complete: async ({ session }) =>
    session.mcp
      .status()
      .flatMap(({ name }) => MCP_ACTIONS.map((action) => ({ text: `${action} ${name}` }))),
  async run({ session, runner }, argument) {
    const servers = session.mcp;
    const [action, ...names] = argument.split(/\s+/);
    const name = names.join(' ');
    if (argument === '') return text(serverLines(servers.status()));
    if (!MCP_ACTIONS.some((one) => one === action) || name === '') {
      return failed('Usage: /mcp [reconnect|enable|disable <name>]');
    }
    if (action === 'reconnect') await servers.reconnect(name);
    else {
      const isOn = action === 'enable';
      await servers.toggle(name, isOn);
      runner.carryOver(async ({ mcp: fresh }) => {
        const found = fresh.status().find((row) => row.name === name);
        if (found !== undefined && (found.status === 'disabled') === isOn) {
          await fresh.toggle(name, isOn);
        }
      });
    }
    return text(serverLines(servers.status().filter((row) => row.name === name)));
  },
});

function serverLines(rows: readonly McpServerStatusRow[]): readonly string[] {
  if (rows.length === 0)
    return ['No MCP servers. portcullis mcp add <name> -- <command> adds one.'];
  return rows.flatMap(({ name, status, transport, source, serverInfo, error, tools, problems }) => {
    const facts = [
      transport,
      source,
      ...(serverInfo === undefined ? [] : [`${serverInfo.name} ${serverInfo.version}`]),
      ...(tools === undefined ? [] : [`${tools.length} tool${tools.length === 1 ? '' : 's'}`]),
    ];
    const details = [...(error === undefined ? [] : [error]), ...(problems ?? [])];
    return [
      visible(`${name}: ${SERVER_STATES[status]} (${facts.join(', ')})`),
      ...details.map((line) => `  ${visible(line)}`),
    ];
  });
}

const SERVER_STATES: Readonly<Record<McpServerStatusRow['status'], string>> = {
  connected: 'connected',
  failed: 'failed',
  'needs-auth': 'needs a sign-in',
  pending: 'not connected yet',
  disabled: 'off',
};

export const hooks = defineCommand({
  name: 'hooks',
  summary: 'Show the hooks in force and how long each took',
  run: async ({ session }) => text(await hookListText(session.hooks(), session.info().cwd)),
});

export const team = defineCommand({
  name: 'team',
  summary: 'Show who works in the team',
  async run({ session }) {
    const view = session.team?.view();
    return text(view === undefined ? 'There is no team.' : teamLines(view));
  },
});

const SHOWN_DECISIONS = 5;

export const why = defineCommand({
  name: 'why',
  summary: 'Show why the last calls were allowed or refused',
  argumentHint: '[tool use id]',
  complete: async ({ runner }) =>
    runner
      .receipts()
      .map(({ toolUseId, tool, decision }) => ({
        text: toolUseId,
        description: `${tool}: ${decision}`,
      }))
      .reverse(),
  async run({ runner }, argument) {
    const receipts = runner.receipts();
    const found =
      argument === ''
        ? receipts.slice(-SHOWN_DECISIONS)
        : receipts.filter(({ toolUseId }) => toolUseId.startsWith(argument));
    if (found.length === 0) {
      return argument === ''
        ? text('No tool call has been decided yet.')
        : failed(`There is no decision about ${visible(argument)}.`);
    }
    if (argument !== '') return text(found.map((receipt) => receiptText(receipt)));
    return text([
      ...found.map((receipt) => {
        const [decision = '', because = ''] = receiptText(receipt).split('\n');
        return `${decision}\n  ${because}\n  /why ${visible(receipt.toolUseId)}`;
      }),
    ]);
  },
});

export const tasks = defineCommand({
  name: 'tasks',
  aliases: ['bashes'],
  summary: 'List background work, stop it or show its output',
  argumentHint: '[stop|output <id>]',
  complete: async ({ runner }) =>
    runner.tasks().flatMap(({ taskId, description }) => [
      { text: `output ${taskId}`, description: visible(description) },
      { text: `stop ${taskId}`, description: visible(description) },
    ]),
  async run({ session, runner }, argument) {
    const [action, id = ''] = argument.split(/\s+/);
    if (argument === '') {
      const rows = runner.tasks().map(({ taskId, taskType, description, agentType }) => {
        const kind = agentType ?? (taskType === 'local_agent' ? 'agent' : 'command');
        return `  ${visible(taskId)}  ${visible(kind)}  ${visible(description)}`;
      });
      return text(rows.length === 0 ? 'Nothing runs in the background.' : rows);
    }
    if (id === '' || (action !== 'stop' && action !== 'output')) {
      return failed('Usage: /tasks [stop|output <id>]');
    }
    if (action === 'stop') {
      const isFound = await session.requests.stopTask(id);
      return isFound ? text(`Stopped ${visible(id)}.`) : noTask(id);
    }
    const output = await session.requests.taskOutput(id);
    if (output === undefined) return noTask(id);
    const cut = output.truncated ? `… the end of ${output.totalBytes} bytes\n` : '';
    return text(`${cut}${visibleText(output.text)}`);
  },
});

function noTask(id: string): ReturnType<typeof failed> {
  return failed(`There is no task ${visible(id)}. /tasks lists them.`);
}

const INBOX_USAGE = '/inbox [answer <id> allow|deny [reason]]';

export const inbox = defineCommand({
  name: 'inbox',
  summary: 'List the questions of background agents and answer them',
  argumentHint: '[answer <id> allow|deny [reason]]',
  argumentFrom: 'person',
  complete: async ({ env }) =>
    openInboxOf(env)
      .list()
      .flatMap(({ id, summary }) =>
        ['allow', 'deny'].map((word) => ({
          text: `answer ${id} ${word}`,
          description: visible(summary.slice(0, 100)),
        })),
      ),
  run: async (context, argument) =>
    argument === '' ? listInbox(context) : answerInbox(context, argument),
});

function listInbox({ env }: CommandContext): ReturnType<typeof text> {
  const questions = openInboxOf(env).list();
  if (questions.length === 0) return text('No agent waits for an answer.');
  return text([
    ...questions.flatMap(({ id, agent, tool, summary, reason, sessionId }) => [
      `${id}  ${visible(agent.path)} (session ${visible(sessionId.slice(0, 8))}) asks to use ${visible(tool)}:`,
      `  ${visible(summary)}`,
      `  ${visible(reason)}`,
    ]),
    INBOX_USAGE,
  ]);
}

function answerInbox({ env }: CommandContext, argument: string): ReturnType<typeof text> {
  const [verb, id = '', behavior, ...reason] = argument.split(/\s+/);
  if (verb !== 'answer' || (behavior !== 'allow' && behavior !== 'deny')) {
    return failed(`Usage: ${INBOX_USAGE}`);
  }
  // fail-closed: an agent that starts a conversation of its own answers no question.
  if (isRunByAgent(env)) return failed('Only a person may answer, and an agent runs this.');
  const message = reason.join(' ');
  const given = { behavior, scope: 'once', ...(message === '' ? {} : { message }) } as const;
  const answered = openInboxOf(env).answer(id, given);
  if (!answered.ok) return failed(`${visible(answered.error)}. /inbox lists what is open.`);
  const { agent, tool, summary } = answered.value;
  const what = behavior === 'allow' ? 'Allowed' : 'Refused';
  return text(`${what}: ${visible(agent.path)}, ${visible(tool)}: ${visible(summary)}`);
}
