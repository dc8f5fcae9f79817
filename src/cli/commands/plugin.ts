import { visible } from '../../lib/text/visible.js';
import { type PluginReport, validatePlugins } from '../../project/plugins.js';
import type { CommandSpec } from '../command.js';
import { commandGroup, JSON_OPTION, withProject } from './project-call.js';
import { placeText, reportValidation } from './validation.js';

const validate: CommandSpec = {
  summary: 'Show what plugins would bring to a session, and what is wrong.',
  arguments: [{ name: '<directories...>', description: 'The directories of plugins.' }],
  options: [JSON_OPTION],
  run: (call) =>
    withProject(call, async (project) => {
      const { plugins, findings } = await validatePlugins(project.places, call.args);
      if (call.options.json !== true) call.output.out(plugins.map(pluginText).join(''));
      const count = plugins.length;
      return reportValidation(call, { noun: 'plugin', count, findings, checked: plugins });
    }),
};

function pluginText({ name, version, directory, ...parts }: PluginReport): string {
  const title = version === undefined ? name : `${name} ${version}`;
  const lines = Object.entries(parts).flatMap(([kind, names]) =>
    names.map((one) => `  ${kind.slice(0, -1).padEnd(6)}  ${visible(one)}\n`),
  );
  return `${visible(title)}  ${placeText(directory)}\n${lines.join('')}`;
}

export const command = commandGroup('Check plugins.', { validate });
