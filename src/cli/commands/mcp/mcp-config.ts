import { shellWord } from '../../../lib/text/shell-word.js';
import { visible } from '../../../lib/text/visible.js';
import {
  type ProjectServers,
  type ServerDeclaration,
  serverNamed,
} from '../../../project/mcp/mcp.js';
import type { WritableScope } from '../../../project/mcp/mcp-store.js';
import { describeProblem, fatalOf } from '../../../project/settings.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import {
  inspectProject,
  JSON_OPTION,
  printJson,
  SCOPE_OPTION,
  SERVER_ARGUMENT,
  SETTINGS_OPTION,
  textOption,
} from '../project-call.js';
import { placeText } from '../validation.js';

export const list: CommandSpec = {
  summary: 'List configured servers with source and status. Does not connect.',
  options: [SETTINGS_OPTION, JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { output } = call;
      const here = await project.mcp();
      const { servers, hidden, exclusive } = here.configuration;
      const fatal = fatalOf((await project.settings()).problems);
      const problems = [...fatal, ...here.configuration.problems];
      // Where no session starts, no server is ready.
      const code = fatalOf(problems).length === 0 ? EXIT.done : EXIT.config;
      if (call.options.json === true) {
        printJson(call, {
          exclusive,
          servers: servers.map((one) => serverData(here, one)),
          hidden: hidden.map((one) => serverData(here, one)),
          problems,
        });
        return code;
      }
      if (exclusive) output.out('An administrator keeps the list of servers.\n\n');
      if (servers.length === 0) {
        // A file that cannot be read may well have servers.
        output.out(
          problems.length > 0
            ? 'No MCP server can be used here; see the problems.\n'
            : 'There are no MCP servers here. portcullis mcp add <name> -- <command> adds one.\n',
        );
      }
      for (const one of servers) output.out(serverText(here, one));
      if (hidden.length > 0) output.out('\nNot in force, because of another of the same name\n');
      for (const one of hidden) output.out(serverText(here, one));
      for (const problem of problems) output.warn(visible(describeProblem(problem)));
      if (code !== EXIT.done)
        output.warn('no session with servers starts here until that is corrected.');
      return code;
    }),
};

export const get: CommandSpec = {
  summary: 'Show one server, and others of its name that are not in force.',
  arguments: [SERVER_ARGUMENT],
  options: [JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const [name = ''] = call.args;
      const here = await project.mcp();
      const server = serverNamed(here, name);
      const hidden = here.configuration.hidden.filter((one) => one.name === name);
      if (call.options.json === true) {
        const data = hidden.map((one) => serverData(here, one));
        printJson(call, { ...serverData(here, server), hidden: data });
        return EXIT.done;
      }
      call.output.out(serverText(here, server));
      if (hidden.length > 0) call.output.out('\nNot in force\n');
      for (const one of hidden) call.output.out(serverText(here, one));
      const { scope } = server;
      if (scope === 'local' || scope === 'project' || scope === 'user') {
        const remove = `portcullis mcp remove ${visible(shellWord(name))} --scope ${scope}`;
        call.output.out(`\nTo remove it: ${remove}\n`);
      }
      return EXIT.done;
    }),
};

export const remove: CommandSpec = {
  summary: 'Remove a server from the file of its scope.',
  arguments: [SERVER_ARGUMENT],
  options: [SCOPE_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const [name = ''] = call.args;
      const { removeServer } = await import('../../../project/mcp/mcp-store.js');
      const asked = textOption(call.options, 'scope') as WritableScope | undefined;
      const { scope, file } = await removeServer(project, name, asked);
      call.output.out(`Removed ${visible(name)} from ${placeText(file)} (${scope}).\n`);
      return EXIT.done;
    }),
};

export const reset: CommandSpec = {
  summary: 'Forget your answers about the servers of this project.',
  run: (call) =>
    inspectProject(call, async (project) => {
      const { configuration, approvals } = await project.mcp();
      const name = visible(configuration.project);
      const count = await approvals.forget(configuration.project);
      const answers = count === 1 ? 'one answer' : `${count} answers`;
      call.output.out(
        count === 0
          ? `There are no answers about servers of ${name}.\n`
          : `Forgot ${answers} about servers of ${name}.\n`,
      );
      return EXIT.done;
    }),
};

/** Name, scope, transport, file, entry and state of a server. */
export function serverText(
  { describe }: Pick<ProjectServers, 'describe'>,
  server: ServerDeclaration,
): string {
  const { name, scope, entry, standing, origin } = server;
  const type = entry === undefined ? '' : `, ${entry.type}`;
  const place = origin.file === undefined ? '' : placeText(origin.file, origin.line);
  const state =
    standing.kind === 'ready' ? NOT_CONNECTED : `${STATES[standing.kind]}: ${standing.reason}`;
  const lines = describe(server).map((line) => `  ${line}\n`);
  return `${visible(name)}  (${scope}${type})  ${place}\n${lines.join('')}  ${visible(state)}\n`;
}

const NOT_CONNECTED = 'allowed, not connected (portcullis mcp status connects and checks it)';

const STATES = {
  'pending-approval': 'pending approval',
  disabled: 'disabled',
  blocked: 'blocked',
  invalid: 'not usable',
  'not-configured': 'not configured',
} as const;

/** The entry as it is written, without values of variables and headers. */
function serverData({ describe }: ProjectServers, server: ServerDeclaration) {
  const { name, key, scope, entry, origin, standing, contentHash } = server;
  return {
    name,
    key,
    scope,
    type: entry?.type ?? null,
    status: standing.kind,
    ...(standing.kind === 'ready' ? {} : { reason: standing.reason }),
    ...origin,
    contentHash,
    entry: describe(server),
  };
}
