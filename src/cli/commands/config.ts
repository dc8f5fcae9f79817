import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import {
  type ConfigKey,
  type ConfigReport,
  type ConfigValue,
  configReport,
  nearestSetting,
  settingMeaning,
} from '../../project/config.js';
import { describeProblem } from '../../project/settings.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { JSON_OPTION, printJson, withProject } from './project-call.js';
import { flagOptions, readFlags } from './session-flags.js';

const FLAGS = [
  'trust',
  'settings',
  'managed-settings',
  'setting-sources',
  'bare',
  'allowedTools',
  'disallowedTools',
];
const OPTIONS = [JSON_OPTION, ...flagOptions(FLAGS)];

async function report(call: CommandCall): Promise<ConfigReport> {
  const { session } = readFlags(call, FLAGS);
  const { settings, managedSettings, settingSources, allowedTools, disallowedTools } = session;
  return await withProject(call, configReport, {
    settings,
    managedSettings,
    sources: settingSources,
    allowedTools,
    disallowedTools,
    trustNotice: 'silent',
  });
}

const explain: CommandSpec = {
  summary: 'Show every value of a setting, and how its sources are merged.',
  arguments: [{ name: '<key>', description: 'A setting, such as permissions.deny.' }],
  options: OPTIONS,
  async run(call) {
    const [key = ''] = call.args;
    const { settings } = await report(call);
    const found = settings.filter((one) => one.key === key || one.key.startsWith(`${key}.`));
    const meaning = settingMeaning(key);
    if (found.length === 0 && meaning === undefined) {
      const meant = nearestSetting(key);
      throw new PortcullisError('usage', `there is no setting ${visible(key)}`, {
        remedy:
          meant === undefined ? 'portcullis config lists what is set' : `did you mean ${meant}?`,
      });
    }
    if (call.options.json === true)
      printJson(call, { key, meaning: meaning ?? [], settings: found });
    else {
      const values = found.flatMap(keyLines);
      const lines = [visible(key), ...(meaning ?? []).map((line) => `  ${line}`)];
      if (values.length === 0) lines.push('  not set in any file');
      call.output.out(`${[...lines, ...values].join('\n')}\n`);
    }
    return EXIT.done;
  },
};

export const command: CommandSpec = {
  summary: 'Show the effective settings with their sources, and what is wrong.',
  options: OPTIONS,
  subcommands: { explain: { summary: explain.summary, load: async () => ({ command: explain }) } },
  async run(call) {
    const read = await report(call);
    if (call.options.json === true) printJson(call, read);
    else call.output.out(reportText(read));
    return read.starts ? EXIT.done : EXIT.config;
  },
};

function reportText(read: ConfigReport): string {
  const problems = read.problems.map(
    (problem) => `  ${LEVELS[problem.severity]}: ${visible(describeProblem(problem))}`,
  );
  const files = read.files.map(({ path, source, state, trusted }) => {
    const note = trusted === false ? ', not trusted: what grants or executes is not in force' : '';
    return `  ${source.padEnd(8)} ${visible(path)}: ${state}${note}`;
  });
  return [
    section('Settings', read.settings.flatMap(keyLines)),
    section('Files, strongest first', files),
    section('Problems', problems),
    read.starts ? '' : 'A session would not start with these settings.\n',
    read.strict ? '' : 'portcullis.strict is false: unusable restrictions only warn.\n',
  ].join('');
}

const LEVELS = { fatal: 'refuses', warning: 'warns', note: 'note' } as const;

function section(title: string, lines: readonly string[]): string {
  return `${title}\n${lines.length === 0 ? '  none' : lines.join('\n')}\n\n`;
}

function keyLines({ key, state, values }: ConfigKey): readonly string[] {
  const later = state === 'in use' ? '' : ' (no effect in this version)';
  return [`  ${visible(key)}${later}`, ...values.map(valueLine)];
}

function valueLine({ value, source, file, line, standing, why }: ConfigValue): string {
  const place = file === undefined ? source : `${file}${line === undefined ? '' : `:${line}`}`;
  const state = standing === 'in force' ? '' : `, ${STANDINGS[standing]}`;
  const reason = why === undefined ? '' : `: ${why}`;
  return `    ${visible(JSON.stringify(value))}  (${source}, ${visible(place)}${state}${reason})`;
}

const STANDINGS = {
  shadowed: 'shadowed by a stronger or stricter one',
  untrusted: 'not in force: the folder is not trusted',
  'not here': 'not in force: this file may not set it',
  'managed only': 'not in force: only managed rules grant',
  dropped: 'not in force',
} as const;
