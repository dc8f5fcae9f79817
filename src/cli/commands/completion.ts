import { recentSessions } from '../../client/session-summary.js';
import { PortcullisError } from '../../errors.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { workingDirectory } from '../../platform/host.js';
import { knownModels } from '../../project/model-setup.js';
import { openProject } from '../../project/project.js';
import type { CommandSpec, Subcommand } from '../command.js';
import { completionScript, SHELLS, type Shell } from '../completion-scripts.js';
import { completionTree } from '../completion-tree.js';
import { EXIT } from '../exit-code.js';
import { commandGroup } from './project-call.js';

const MAX_SESSIONS = 30;
const MAX_TITLE = 60;

/** The command that completes these commands. */
export function completionCommand(commands: Readonly<Record<string, Subcommand>>): CommandSpec {
  const leaf = (shell: Shell): CommandSpec => ({
    summary: `Print the completion script for ${shell}.`,
    notes: `To load it in every shell:\n  ${INSTALL[shell]}`,
    async run({ output }) {
      output.out(completionScript(shell, await completionTree(commands)));
      return EXIT.done;
    },
  });
  return {
    ...commandGroup('Print a script that completes commands and options in a shell.', {
      bash: leaf('bash'),
      zsh: leaf('zsh'),
      fish: leaf('fish'),
    }),
    options: [
      {
        flags: '--values <kind>',
        description: 'Print the values that a completion script asks for.',
        choices: ['sessions', 'models'],
        hidden: true,
      },
    ],
    notes: `To load it in every shell:\n${SHELLS.map((one) => `  ${one.padEnd(6)}${INSTALL[one]}`).join('\n')}`,
    async run({ options, output }) {
      if (options.values === undefined) {
        throw new PortcullisError('usage', 'completion needs the name of a shell', {
          remedy: `portcullis completion ${SHELLS.join('|')}`,
        });
      }
      const lines = options.values === 'sessions' ? await sessionLines() : await modelLines();
      output.out(lines.map((line) => `${line}\n`).join(''));
      return EXIT.done;
    },
  };
}

const INSTALL: Readonly<Record<Shell, string>> = {
  bash: "echo 'source <(portcullis completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(portcullis completion zsh)' >> ~/.zshrc",
  fish: 'portcullis completion fish > ~/.config/fish/completions/portcullis.fish',
};

async function modelLines(): Promise<readonly string[]> {
  const { env, settings } = await openProject(workingDirectory()).settings();
  return knownModels(env, settings.model?.value).map(visible);
}

/** An id and a title each, with a tab between. */
async function sessionLines(): Promise<readonly string[]> {
  const recent = await recentSessions(process.env, workingDirectory(), MAX_SESSIONS);
  return recent.map(({ sessionId, customTitle, summary }) => {
    const title = visible(sliceWhole((customTitle ?? summary).replace(/\s+/g, ' '), 0, MAX_TITLE));
    return `${sessionId}\t${title}`;
  });
}
