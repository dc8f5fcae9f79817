import { isRecord, own } from '../../lib/own.js';
import type { Sourced } from '../../lib/sourced.js';
import type { ConfigProblem, SettingValues } from '../../settings/types.js';

/** Which files hold instructions. */
export type AgentsMode = (typeof AGENTS_MODES)[number];

const AGENTS_MODES = [
  'claude-md',
  'claude-md-or-agents-md',
  'claude-md-and-agents-md',
  'managed-only',
] as const;

/** What settings say about instructions. */
export interface InstructionSettings {
  /** An administrator's instructions. */
  readonly claudeMd?: Sourced<string>;
  /** Patterns of files that are not read. */
  readonly excludes: readonly Sourced<string>[];
  readonly agentsMode: AgentsMode;
  /** Absent: not set. */
  readonly autoMemory?: boolean;
  readonly autoMemoryDirectory?: string;
  readonly teamMemory: boolean;
}

export const DEFAULT_INSTRUCTION_SETTINGS: InstructionSettings = {
  excludes: [],
  agentsMode: 'claude-md-or-agents-md',
  teamMemory: false,
};

export function instructionSettings(values: SettingValues): {
  readonly settings: InstructionSettings;
  readonly problems: readonly ConfigProblem[];
} {
  const claudeMd = values.get('claudeMd');
  const autoMemory = values.get('autoMemoryEnabled')?.value;
  const directory = values.get('autoMemoryDirectory')?.value;
  const mode = agentsMode(values);
  const settings: InstructionSettings = {
    claudeMd: claudeMd !== undefined && isText(claudeMd) ? claudeMd : undefined,
    excludes: values.list('claudeMdExcludes').filter(isText),
    agentsMode: mode.value,
    autoMemory: typeof autoMemory === 'boolean' ? autoMemory : undefined,
    autoMemoryDirectory: typeof directory === 'string' ? directory : undefined,
    teamMemory: values.get('portcullis.teamMemory')?.value === true,
  };
  return { settings, problems: mode.problems };
}

function agentsMode(values: SettingValues): {
  readonly value: AgentsMode;
  readonly problems: readonly ConfigProblem[];
} {
  const configs = values.get('pluginConfigs');
  const plugin = isRecord(configs?.value) ? own(configs.value, 'agents-md@builtin') : undefined;
  const options = isRecord(plugin) ? own(plugin, 'options') : undefined;
  const said = isRecord(options) ? own(options, 'instructionFiles') : undefined;
  const fallback = DEFAULT_INSTRUCTION_SETTINGS.agentsMode;
  if (said === undefined) return { value: fallback, problems: [] };
  const known = AGENTS_MODES.find((mode) => mode === said);
  if (known !== undefined) return { value: known, problems: [] };
  const problem: ConfigProblem = {
    severity: 'warning',
    file: configs?.file,
    line: configs?.line,
    message: `"${String(said)}" says nothing about which instruction files are read.`,
    remedy: `Use one of ${AGENTS_MODES.join(', ')}.`,
  };
  return { value: fallback, problems: [problem] };
}

function isText(one: Sourced<unknown>): one is Sourced<string> {
  return typeof one.value === 'string';
}
