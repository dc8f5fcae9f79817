import { visible } from '../../lib/text/visible.js';
import { workingDirectory } from '../../platform/host.js';
import { modelStatus } from '../../project/model-setup.js';
import { openProject } from '../../project/project.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';

const status: CommandSpec = {
  summary: 'Show whether a model is configured, and how; exit code 1 when not.',
  options: [
    { flags: '--json', description: 'Print JSON (the default, as client programs expect).' },
    { flags: '--text', description: 'Print lines for people.' },
  ],
  notes: 'No request is sent, and no secret is shown.',
  async run({ options, output }) {
    const project = openProject(workingDirectory(), { trustNotice: 'silent' });
    const { env, settings } = await project.settings();
    await project.close();
    const { configured, provider, method, source, baseUrl, model, remedy } = modelStatus(
      env,
      settings.model?.value,
    );
    if (options.text === true) {
      const words = configured
        ? `Sessions use ${provider}${model ? `, ${visible(model)}` : ''} (${source}, ${method}).`
        : `No model is configured. ${remedy}`;
      output.out(`${words}\n`);
    } else {
      const report = {
        loggedIn: configured,
        authMethod: method,
        apiProvider: provider === 'anthropic' ? 'firstParty' : provider,
        source,
        baseUrl,
        model,
      };
      output.out(`${JSON.stringify(report, null, 2)}\n`);
    }
    return configured ? EXIT.done : EXIT.error;
  },
};

export const command: CommandSpec = {
  summary: 'Show whether a model is configured, and how.',
  subcommands: {
    status: { summary: status.summary, load: async () => ({ command: status }) },
  },
};
