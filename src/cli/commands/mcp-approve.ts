import { PortcullisError } from '../../errors.js';
import type { ServerDeclaration } from '../../mcp/server.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { confirmAtTerminal, hasTerminal } from '../terminal-input.js';
import { readArguments } from './arguments.js';
import { type McpHere, mcpHere, serverNamed } from './mcp-here.js';
import { serverText } from './mcp-text.js';
import { refuseAgent } from './person-only.js';

export const USAGE = 'portcullis mcp approve <name> [--tools] [--yes] [--decline]';

/** Shows a server of the project and keeps the answer, bound to the entry as it is now. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(
    argv.map((word) => (word === '-y' ? '--yes' : word)),
    { usage: USAGE, switches: ['yes', 'decline', 'tools'] },
  );
  const [name] = words;
  if (name === undefined || words.length > 1)
    throw new PortcullisError('usage', 'mcp approve wants one name', { remedy: `usage: ${USAGE}` });
  if (switches.has('tools')) {
    refuseAgent('mcp approve');
    const { approveTools } = await import('./mcp-approve-tools.js');
    const confirm = async (): Promise<boolean> => {
      if (switches.has('yes')) return true;
      refusePipe(`portcullis mcp approve ${visible(shellWord(name))} --tools --yes`);
      return await confirmAtTerminal('Accept these definitions?', output.out);
    };
    return await approveTools({ name, confirm }, output);
  }
  const here = await mcpHere();
  const server = ofProject(here, name);
  const { project } = here.configuration;
  if (switches.has('decline')) {
    await here.approvals.decline(project, server);
    output.out(`Declined: ${visible(name)} is not used in ${visible(project)}.\n`);
    return EXIT.done;
  }
  output.out(serverText(here, server));
  for (const line of here.configuration.standsFor(server)) output.out(`  ${line}\n`);
  refuseAgent('mcp approve');
  if (!switches.has('yes')) refusePipe(`portcullis mcp approve ${visible(shellWord(name))} --yes`);
  if (!switches.has('yes') && !(await confirmAtTerminal('Use this server?', output.out))) {
    output.out('Not approved.\n');
    return EXIT.error;
  }
  await here.approvals.approve(project, server);
  const more = server.filled === undefined ? '' : ', or what a variable in it stands for,';
  output.out(`Approved: ${visible(name)}, until its entry${more} changes.\n`);
  return EXIT.done;
}

/** fail-closed: a pipe is no person. */
function refusePipe(command: string): void {
  if (hasTerminal()) return;
  throw new PortcullisError('config', 'not approved: there is no terminal to ask on', {
    remedy: `read the entry above, then run: ${command}`,
  });
}

function ofProject(here: McpHere, name: string): ServerDeclaration {
  const { servers, hidden } = here.configuration;
  const found = [...servers, ...hidden].find((one) => one.name === name && one.scope === 'project');
  if (found !== undefined && found.standing.kind !== 'invalid') return found;
  if (found?.standing.kind === 'invalid')
    throw new PortcullisError('config', `"${visible(name)}" cannot be used`, {
      remedy: visible(found.standing.reason),
    });
  const { scope } = serverNamed(here, name);
  throw new PortcullisError(
    'usage',
    `"${visible(name)}" needs no approval: its scope is ${scope}`,
    {
      remedy: 'only servers of .mcp.json are asked about',
    },
  );
}
