import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import { resolve } from '../../platform/fs/paths.js';
import { workingDirectory } from '../../platform/host.js';
import { answerIncludes } from '../../project/context.js';
import { openProject, type Project } from '../../project/project.js';
import type { CommandCall, CommandSpec, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { refuseAgent } from './person.js';
import { JSON_OPTION, printJson, textOption } from './project-call.js';
import { flagOptions, readFlags } from './session-flags.js';

/** Flags that change what the model of a session is shown. */
const FLAGS = [
  'print',
  'model',
  'agent',
  'agents',
  'tools',
  'allowedTools',
  'disallowedTools',
  'permission-mode',
  'system-prompt',
  'system-prompt-file',
  'append-system-prompt',
  'append-system-prompt-file',
  'add-dir',
  'mcp-config',
  'strict-mcp-config',
  'plugin-dir',
  'trust',
  'settings',
  'managed-settings',
  'setting-sources',
  'bare',
  'json-schema',
];

const CWD_OPTION: OptionSpec = {
  flags: '--cwd <directory>',
  description: 'Another directory than the working directory.',
};

async function projectAt({ options, output }: CommandCall): Promise<Project> {
  const cwd = resolve(workingDirectory(), textOption(options, 'cwd') ?? '.');
  const project = openProject(cwd, { warn: output.warn });
  if ((await project.places.fs.stat(cwd))?.kind === 'directory') return project;
  throw new PortcullisError('usage', `${visible(cwd)} is not a directory`, {
    remedy: 'name a directory that exists with --cwd',
  });
}

/** Keeps a person's answer about files from outside the project. */
function answerCommand(answer: 'approve' | 'decline'): CommandSpec {
  return {
    summary: {
      approve: 'Let instructions include files from outside the project.',
      decline: 'Keep files from outside the project out of its instructions.',
    }[answer],
    arguments: [{ name: '<paths...>', description: 'The files. Folders cannot be named.' }],
    options: [CWD_OPTION],
    async run(call) {
      if (answer === 'approve') refuseAgent('context approve');
      const { places } = await projectAt(call);
      const { realRoot, files } = await answerIncludes(places, answer, call.args);
      const may = answer === 'approve' ? 'may show' : 'may not show';
      for (const file of files) {
        call.output.out(`${visible(realRoot)} ${may} ${visible(file)} to the model.\n`);
      }
      call.output.out('This applies to sessions that start from now on.\n');
      return EXIT.done;
    },
  };
}

const approve = answerCommand('approve');
const decline = answerCommand('decline');

export const command: CommandSpec = {
  summary: 'Show what the model of a session here would be shown, with sizes.',
  options: [JSON_OPTION, CWD_OPTION, ...flagOptions(FLAGS)],
  notes: 'Nothing is run and no model is asked. File contents are not printed.',
  subcommands: {
    approve: { summary: approve.summary, load: async () => ({ command: approve }) },
    decline: { summary: decline.summary, load: async () => ({ command: decline }) },
  },
  async run(call) {
    const { session, print } = readFlags(call, FLAGS);
    const project = await projectAt(call);
    const { cwd } = project;
    const { report, approvals } = await project.context({ ...session, headless: print });
    if (call.options.json === true) printJson(call, { cwd, ...report, approvals });
    else {
      const { contextText } = await import('../../project/context-text.js');
      call.output.out(contextText(report, cwd));
    }
    return EXIT.done;
  },
};
