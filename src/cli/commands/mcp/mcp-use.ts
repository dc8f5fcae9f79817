import type { SessionConfig } from '../../../app.js';
import { ALL_QUESTIONS } from '../../../client/local-client.js';
import { QuestionBroker } from '../../../client/question-broker.js';
import { PortcullisError } from '../../../errors.js';
import { parseJson } from '../../../lib/json.js';
import { isRecord } from '../../../lib/own.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { visible } from '../../../lib/text/visible.js';
import { systemClock } from '../../../platform/clock.js';
import { displayPath } from '../../../platform/fs/paths.js';
import { workingDirectory } from '../../../platform/host.js';
import { isRunByAgent } from '../../../platform/process/run-by-agent.js';
import {
  callServerTool,
  type ServerStatus,
  serverStatuses,
} from '../../../project/mcp/mcp-connections.js';
import type { Receipt } from '../../../protocol/permissions.js';
import type { ToolCallResult } from '../../../protocol/tool-call.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import {
  ALLOWED_TOOLS_OPTION,
  JSON_OPTION,
  MCP_CONFIG_OPTION,
  printJson,
  SETTINGS_OPTION,
  warnOfNotices,
  withProject,
} from '../project-call.js';

export const status: CommandSpec = {
  summary: 'Connect servers, and show their state and tools.',
  arguments: [{ name: '[names...]', description: 'Default: all that may be used.' }],
  options: [MCP_CONFIG_OPTION, SETTINGS_OPTION, JSON_OPTION],
  run: (call) =>
    withProject(call, async (project) => {
      const json = call.options.json === true;
      const opened = await project.sessionParts({
        entrypoint: 'portcullis-mcp',
        asksModel: false,
        emit: json ? () => undefined : warnOfNotices(call),
      });
      const rows = await serverStatuses(opened, call.args);
      if (json) printJson(call, rows);
      else if (rows.length === 0) call.output.out('There are no MCP servers here.\n');
      else call.output.out(rows.map(rowText).join('\n'));
      const isWell = (row: ServerStatus): boolean =>
        row.status === 'connected' || (call.args.length === 0 && row.status !== 'failed');
      return rows.every(isWell) ? EXIT.done : EXIT.error;
    }),
};

const MAX_TOOLS = 40;

function rowText(row: ServerStatus): string {
  const { name, status, scope, transport, serverInfo, protocolVersion, tools, changed } = row;
  const lines = [`${name}  (${scope}, ${transport})  ${status}`];
  if (row.error !== undefined) lines.push(`  ${row.error}`);
  if (row.searched !== undefined) lines.push(`  PATH that was searched: ${row.searched}`);
  if (serverInfo !== undefined) {
    const spoken = protocolVersion === undefined ? '' : `, protocol ${protocolVersion}`;
    lines.push(`  server: ${serverInfo.name} ${serverInfo.version}${spoken}`);
  }
  if (tools !== undefined) {
    const names = tools.slice(0, MAX_TOOLS).map((tool) => tool.name);
    const more = tools.length > names.length ? ` and ${tools.length - names.length} more` : '';
    lines.push(
      `  tools: ${tools.length}${names.length === 0 ? '' : ` (${names.join(', ')}${more})`}`,
    );
  }
  for (const problem of row.problems ?? []) lines.push(`  ${problem}`);
  if (changed.length > 0) {
    lines.push(`  changed since they were approved: ${changed.join(', ')}`);
  }
  if (row.saysOther) {
    lines.push('  its instructions have changed, and are not passed on to the model');
  }
  if (changed.length > 0 || row.saysOther) {
    lines.push(`  to look and accept: portcullis mcp approve ${shellWord(name)} --tools`);
  }
  if (row.log !== undefined) lines.push(`  log: ${displayPath(row.log, workingDirectory())}`);
  return `${lines.map(visible).join('\n')}\n`;
}

export const call: CommandSpec = {
  summary: 'Call a tool of a server, as rules and hooks allow.',
  arguments: [
    { name: '<server>', description: 'The name of the server.' },
    { name: '<tool>', description: 'The name of the tool.' },
    { name: '[json]', description: 'The arguments of the tool, as a JSON object.' },
  ],
  options: [ALLOWED_TOOLS_OPTION, MCP_CONFIG_OPTION, SETTINGS_OPTION, JSON_OPTION],
  run: (own) =>
    withProject(own, async (project) => {
      const { output } = own;
      const [server = '', tool = '', text = '{}'] = own.args;
      const input = parseJson(text);
      if (!input.ok || !isRecord(input.value)) {
        throw new PortcullisError('usage', 'the arguments are not a JSON object', {
          remedy: `portcullis mcp call ${visible(shellWord(server))} ${visible(shellWord(tool))} '{"name": "value"}'`,
        });
      }
      const receipts: Receipt[] = [];
      const warn = warnOfNotices(own);
      const person = await terminalPerson();
      const opened = await project.sessionParts({
        asker: person.asker,
        elicit: person.elicit,
        entrypoint: 'portcullis-mcp',
        persist: true,
        asksModel: true,
        emit: (news) => {
          if (news.type === 'decision') receipts.push(news.receipt);
          if (news.type === 'progress') process.stderr.write(`${visible(news.text)}\n`);
          warn(news);
        },
      });
      const abort = new AbortController();
      process.once('SIGINT', () => abort.abort(new Error('interrupted')));
      const wanted = { server, tool, input: input.value };
      const result = await callServerTool(opened, wanted, abort.signal);
      const receipt = receipts.at(-1);
      const refused = receipt !== undefined && receipt.decision !== 'allow';
      if (own.options.json === true) printJson(own, resultData(result, receipt));
      else if (refused) output.warn(resultText(result));
      else output.answer(`${resultText(result)}\n`);
      return refused ? EXIT.denied : result.block.is_error === true ? EXIT.error : EXIT.done;
    }),
};

function resultText({ block }: ToolCallResult): string {
  if (typeof block.content === 'string') return block.content;
  return (block.content ?? [])
    .map((one) => (one.type === 'text' ? one.text : `[${one.type}]`))
    .join('\n');
}

function resultData({ block, structured }: ToolCallResult, receipt: Receipt | undefined): unknown {
  const { decision, decidedBy: by, reason } = receipt ?? {};
  return {
    isError: block.is_error === true,
    content: block.content,
    structured,
    decision: receipt === undefined ? undefined : { decision, by, reason },
  };
}

/** The person at the terminal. Questions go to standard error, because standard output is the answer's. */
async function terminalPerson(): Promise<Pick<SessionConfig, 'asker' | 'elicit'>> {
  // fail-closed: the shell of an agent is no person, and neither is a pipe.
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true || isRunByAgent(process.env)) {
    return {};
  }
  const { Asker } = await import('../../asker.js');
  const asker = new Asker(process.stderr);
  const person = { name: 'terminal', answers: ALL_QUESTIONS };
  const broker: QuestionBroker = new QuestionBroker({
    now: Date.now,
    uuid: systemClock.uuid,
    onWaiting: () => undefined,
    emit(event) {
      if (event.type === 'question_closed') asker.withdraw(event.id);
      if (event.type !== 'question') return;
      const { id } = event.question;
      void asker.ask(event.question).then((given) => broker.answer(id, given, person));
    },
  });
  broker.connect(person);
  return {
    asker: (request) => broker.askAboutCall(request),
    elicit: (question, signal) => broker.elicit(question, signal),
  };
}
