import { statSync } from 'node:fs';
import type { SessionConfig } from '../../app.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import { workingDirectory } from '../../platform/host.js';
import { openProject, type Project, type ProjectOptions } from '../../project/project.js';
import { describeProblem, fatalOf } from '../../project/settings.js';
import type { CommandCall, CommandSpec, OptionSpec, OptionValues } from '../command.js';

export const JSON_OPTION: OptionSpec = { flags: '--json', description: 'Print JSON.' };

export const TRUST_OPTION: OptionSpec = {
  flags: '--trust',
  description: 'Read the project as if you had trusted it.',
};

export const SETTINGS_OPTION: OptionSpec = {
  flags: '--settings <file-or-json>',
  description: 'Settings on top of the others.',
};

export const ADD_DIR_OPTION: OptionSpec = {
  flags: '--add-dir <directory...>',
  description: 'A directory beside the project.',
};

export const ALLOWED_TOOLS_OPTION: OptionSpec = {
  flags: '--allowedTools <rules...>',
  description: 'Allow rules, such as "Bash(npm test)".',
};

export const MCP_CONFIG_OPTION: OptionSpec = {
  flags: '--mcp-config <file-or-json...>',
  description: 'MCP servers beside the configured ones.',
};

export const SCOPE_OPTION: OptionSpec = {
  flags: '-s, --scope <scope>',
  description:
    'For you in this project, for all who work in it (.mcp.json), or for you everywhere.',
  choices: ['local', 'project', 'user'],
};

export const SERVER_ARGUMENT = { name: '<name>', description: 'The name of the server.' };

/** Opens the project of the working directory as the options of a call say, and closes it afterwards. */
export async function withProject<T>(
  { options, output }: CommandCall,
  use: (project: Project) => Promise<T>,
  more: ProjectOptions = {},
): Promise<T> {
  const missing = listOption(options, 'addDir').find((one) => !isDirectory(one));
  if (missing !== undefined) {
    throw new PortcullisError('usage', `--add-dir: "${visible(missing)}" is not a directory`, {
      remedy: 'name a directory that exists',
    });
  }
  const project = openProject(workingDirectory(), {
    settings: textOption(options, 'settings'),
    trust: options.trust === true ? 'given' : 'as it is',
    addDirs: listOption(options, 'addDir'),
    agents: textOption(options, 'agents'),
    mcpConfig: listOption(options, 'mcpConfig'),
    allowedTools: listOption(options, 'allowedTools'),
    warn: output.warn,
    ...more,
  });
  try {
    return await use(project);
  } finally {
    await project.close();
  }
}

/** As `withProject`, for commands that themselves show what waits for trust. */
export function inspectProject<T>(
  call: CommandCall,
  use: (project: Project) => Promise<T>,
): Promise<T> {
  return withProject(call, use, { trustNotice: 'silent' });
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Warns that no session would start with the settings here, and why. */
export async function warnOfSettings({ output }: CommandCall, project: Project): Promise<void> {
  const fatal = fatalOf((await project.settings()).problems);
  for (const problem of fatal) output.warn(visible(describeProblem(problem)));
  if (fatal.length > 0) output.warn('no session starts here until that is corrected.');
}

export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOption(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value : [];
}

/** The number of an option, or an error that says which numbers it takes. */
export function numberOption(
  options: OptionValues,
  name: string,
  {
    min,
    max,
    whole = false,
  }: { readonly min: number; readonly max: number; readonly whole?: boolean },
): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const number = Number(text);
  const isNumber = text.trim() !== '' && (!whole || Number.isInteger(number));
  if (isNumber && number >= min && number <= max) return number;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const message = `${flag}: "${visible(text)}" is not a number from ${min} to ${max}`;
  throw new PortcullisError('usage', message, { remedy: 'correct the number' });
}

export function printJson({ output }: Pick<CommandCall, 'output'>, value: unknown): void {
  output.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** Listens to a session without a conversation, and prints its warnings. */
export function warnOfNotices({ output }: CommandCall): SessionConfig['emit'] {
  return (news) => {
    if (news.type === 'notice' && news.level === 'warning') output.warn(news.text);
  };
}

/** A command that leads to others, all of them in its own file. */
export function commandGroup(
  summary: string,
  leaves: Readonly<Record<string, CommandSpec>>,
): CommandSpec {
  const subcommands = Object.entries(leaves).map(([name, leaf]) => [
    name,
    { summary: leaf.summary, load: async () => ({ command: leaf }) },
  ]);
  return { summary, subcommands: Object.fromEntries(subcommands) };
}
