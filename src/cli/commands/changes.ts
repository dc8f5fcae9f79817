import { visible, visibleText } from '../../lib/text/visible.js';
import { actionOf, authorsText, changesText } from '../../project/changes-text.js';
import type { CommandSpec, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { inspectProject, JSON_OPTION, textOption } from './project-call.js';

export const SESSION_OPTION: OptionSpec = {
  flags: '--session <id>',
  description: 'A session by the beginning of its id. Default: the last one.',
};

export const command: CommandSpec = {
  summary: 'List the files that a session changed, and who changed them.',
  options: [
    SESSION_OPTION,
    { flags: '--turn <message>', description: 'Only changes after this prompt, by message id.' },
    { flags: '--call <id>', description: 'Only changes of this tool call.' },
    { flags: '--agent <name>', description: 'Only changes of this agent.' },
    { flags: '--diff', description: 'Show what changed in each file.' },
    JSON_OPTION,
  ],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { options, output } = call;
      const { sessionId, checkpoints } = await project.changes(textOption(options, 'session'));
      const changes = await checkpoints.changes({
        messageId: textOption(options, 'turn'),
        toolUseId: textOption(options, 'call'),
        agent: textOption(options, 'agent'),
      });
      if (options.json === true) {
        const rows = changes.map((change) => ({ action: actionOf(change), ...change }));
        output.out(`${JSON.stringify({ session: sessionId, changes: rows })}\n`);
      } else if (options.diff === true) {
        for (const change of changes) {
          const head = `# ${actionOf(change)} ${change.path}: ${authorsText(change.authors)}`;
          const diff = (await checkpoints.diff(change)) ?? '';
          output.out(`${visible(head)}\n${visibleText(diff)}`);
        }
      } else output.out(`session ${sessionId}\n${changesText(changes)}`);
      return EXIT.done;
    }),
};
