import { serveProject } from '../../../project/mcp/mcp-serve.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import {
  ALLOWED_TOOLS_OPTION,
  SETTINGS_OPTION,
  textOption,
  warnOfNotices,
  withProject,
} from '../project-call.js';

export const serve: CommandSpec = {
  summary: 'Offer the built-in tools to an MCP client on stdin and stdout.',
  options: [
    { flags: '--tools <names>', description: 'Only these tools, separated by commas.' },
    ALLOWED_TOOLS_OPTION,
    SETTINGS_OPTION,
  ],
  notes: 'Rules and hooks decide on each call. Questions go to the client.',
  run: (call) =>
    withProject(call, async (project) => {
      const names = textOption(call.options, 'tools')
        ?.split(/[\s,]+/)
        .filter((name) => name !== '');
      const gone = new Promise<void>((resolve) => {
        for (const event of ['end', 'close']) process.stdin.once(event, () => resolve());
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve());
      });
      const emit = warnOfNotices(call);
      await serveProject(project, { names, emit, gone, debug: call.output.debug });
      return EXIT.done;
    }),
};
