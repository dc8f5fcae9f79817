import { shellWord } from '../../../lib/text/shell-word.js';
import { visible } from '../../../lib/text/visible.js';
import { approvableServer } from '../../../project/mcp/mcp.js';
import { pendingDefinitions } from '../../../project/mcp/mcp-connections.js';
import type { Project } from '../../../project/project.js';
import type { CommandCall, CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { confirmed, refuseAgent, YES_OPTION } from '../person.js';
import { inspectProject, SERVER_ARGUMENT, warnOfNotices } from '../project-call.js';
import { serverText } from './mcp-config.js';

export const approve: CommandSpec = {
  summary: 'Approve a server of .mcp.json, or its changed tools.',
  arguments: [SERVER_ARGUMENT],
  options: [
    { flags: '--tools', description: 'Connect, and approve definitions of tools that changed.' },
    { flags: '--decline', description: 'Never use the server in this project.' },
    YES_OPTION,
  ],
  run: (call) =>
    inspectProject(call, (project) =>
      call.options.tools === true ? approveTools(call, project) : approveServer(call, project),
    ),
};

/** Shows a server of the project and keeps the answer, bound to the entry as it is now. */
async function approveServer(call: CommandCall, project: Project): Promise<number> {
  const { output } = call;
  const [name = ''] = call.args;
  const servers = await project.mcp();
  const { configuration, approvals } = servers;
  const server = approvableServer(servers, name);
  if (call.options.decline === true) {
    await approvals.decline(configuration.project, server);
    output.out(`Declined: ${visible(name)} is not used in ${visible(configuration.project)}.\n`);
    return EXIT.done;
  }
  output.out(serverText(configuration, server));
  for (const line of configuration.standsFor(server)) output.out(`  ${line}\n`);
  refuseAgent('mcp approve');
  const isYes = await confirmed(call, 'Use this server?', {
    refused: 'not approved',
    remedy: `read the entry above, then run: portcullis mcp approve ${visible(shellWord(name))} --yes`,
  });
  if (!isYes) {
    output.out('Not approved.\n');
    return EXIT.error;
  }
  await approvals.approve(configuration.project, server);
  const more = server.filled === undefined ? '' : ', or the value of a variable in it,';
  output.out(`Approved: ${visible(name)}, until its entry${more} changes.\n`);
  return EXIT.done;
}

/** Shows the definitions of a server's tools and keeps the answer, bound to exactly these. */
async function approveTools(call: CommandCall, project: Project): Promise<number> {
  const { output } = call;
  const [name = ''] = call.args;
  refuseAgent('mcp approve');
  const opened = await project.sessionParts({
    entrypoint: 'portcullis-mcp',
    asksModel: false,
    emit: warnOfNotices(call),
  });
  const pending = await pendingDefinitions(opened, name);
  if (pending.changes.length === 0 && !pending.isDamaged) {
    output.out(`All ${pending.tools} definitions of "${visible(name)}" are approved already.\n`);
    return EXIT.done;
  }
  // Whole, with all that is invisible in it: the person must see all that a model would.
  for (const { title, text } of pending.changes) {
    const lines = text.split('\n').map((line) => `  ${visible(line)}\n`);
    output.out(`${visible(title)}\n${lines.join('')}`);
  }
  const isYes = await confirmed(call, 'Accept these definitions?', {
    refused: 'not approved',
    remedy: `read the entry above, then run: portcullis mcp approve ${visible(shellWord(name))} --tools --yes`,
  });
  if (!isYes) {
    output.out('Not approved.\n');
    return EXIT.error;
  }
  await pending.approve();
  output.out(
    `Approved: ${pending.changedTools} definitions of "${visible(name)}", until they change.\n`,
  );
  return EXIT.done;
}
