import { expandHome, resolve } from '../env/paths.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { isRecord } from '../util/own.js';
import type { Sourced } from '../util/sourced.js';
import { readSettingsFiles, type SettingsPlaces } from './read-files.js';
import type { ConfigProblem, EffectiveSettings, SettingsFile, SourcedRule } from './types.js';

export interface LoadSettingsOptions extends SettingsPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface LoadedSettings {
  readonly settings: EffectiveSettings;
  /** Any `fatal` among them means: do not start. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads and merges managed, command-line, local, project and user settings, in this order of
 * strength. Lists add up, single values come from the strongest source. A project's files can
 * always restrict; they grant only when the folder is trusted, and never raise the mode.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const { files, problems } = await readSettingsFiles(options);
  const merge = new Merge(options, [...problems]);
  // Weakest first, so that each stronger file overwrites single values.
  for (const file of [...files].reverse()) merge.add(file);
  return merge.result(files);
}

/** The directory of an administrator's settings on this kind of machine. */
export function managedSettingsDirectory(platform: string): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return 'C:\\Program Files\\ClaudeCode';
  return '/etc/claude-code';
}

/** How much a mode lets through; a project may lower what its user chose, not raise it. */
const REACH: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  bypassPermissions: 4,
};

const LISTS = ['allow', 'ask', 'deny'] as const;

class Merge {
  readonly #options: LoadSettingsOptions;
  readonly #problems: ConfigProblem[];
  readonly #rules: Record<(typeof LISTS)[number], SourcedRule[]> = { allow: [], ask: [], deny: [] };
  readonly #directories: Sourced<string>[] = [];
  readonly #env: Record<string, Sourced<string>> = Object.create(null);
  #mode: Sourced<PermissionMode> | undefined;
  #model: Sourced<string> | undefined;
  #bypassDisabled: Sourced<true> | undefined;

  constructor(options: LoadSettingsOptions, problems: ConfigProblem[]) {
    this.#options = options;
    this.#problems = problems;
  }

  add(file: SettingsFile): void {
    this.#permissions(file);
    this.#environment(file);
    const { model } = file.content;
    if (typeof model === 'string') this.#model = sourced(file, ['model'], model);
    else if (model !== undefined) this.#mistyped(file, ['model'], { wanted: 'a string' });
  }

  result(files: readonly SettingsFile[]): LoadedSettings {
    // Strongest first, as the files are.
    for (const list of LISTS) this.#rules[list].reverse();
    const mode =
      this.#bypassDisabled !== undefined && this.#mode?.value === 'bypassPermissions'
        ? undefined
        : this.#mode;
    return {
      problems: this.#problems,
      settings: {
        permissions: {
          ...this.#rules,
          additionalDirectories: this.#directories.reverse(),
          ...(mode === undefined ? {} : { defaultMode: mode }),
          ...(this.#bypassDisabled === undefined ? {} : { bypassDisabled: this.#bypassDisabled }),
        },
        env: this.#env,
        ...(this.#model === undefined ? {} : { model: this.#model }),
        files,
      },
    };
  }

  #permissions(file: SettingsFile): void {
    const permissions = file.content.permissions;
    if (permissions === undefined) return;
    const way = ['permissions'];
    // fail-closed: a `permissions` that cannot be understood may have held deny rules.
    if (!isRecord(permissions)) {
      this.#mistyped(file, way, { wanted: 'an object', severity: 'fatal' });
      return;
    }
    for (const list of LISTS) {
      const texts = this.#strings(file, [...way, list], permissions[list]);
      const rules = texts.map((text, index) =>
        sourced(file, [...way, list, index], { text, root: file.root }),
      );
      if (list === 'allow' && rules.length > 0 && !this.#mayGrant(file, [...way, list])) continue;
      this.#rules[list].push(...rules.reverse());
    }
    this.#workingDirectories(file, permissions.additionalDirectories);
    this.#defaultMode(file, permissions.defaultMode);
    if (permissions.disableBypassPermissionsMode === 'disable') {
      this.#bypassDisabled = sourced(file, [...way, 'disableBypassPermissionsMode'], true);
    } else if (permissions.disableBypassPermissionsMode !== undefined) {
      const wanted = '"disable"';
      this.#mistyped(file, [...way, 'disableBypassPermissionsMode'], { wanted, severity: 'fatal' });
    }
  }

  #workingDirectories(file: SettingsFile, value: unknown): void {
    const way = ['permissions', 'additionalDirectories'];
    const directories = this.#strings(file, way, value);
    if (directories.length === 0 || !this.#mayGrant(file, way)) return;
    const home = this.#options.env.HOME ?? '';
    const base =
      file.source === 'project' || file.source === 'local' ? file.root : this.#options.cwd;
    const absolute = directories.map((directory, index) =>
      sourced(file, [...way, index], resolve(base, expandHome(directory, home))),
    );
    this.#directories.push(...absolute.reverse());
  }

  #defaultMode(file: SettingsFile, value: unknown): void {
    if (value === undefined) return;
    const way = ['permissions', 'defaultMode'];
    const mode = value === 'manual' ? 'default' : PERMISSION_MODES.find((known) => known === value);
    if (mode === undefined) {
      // A mode of other programs whose nearest relative here is asking.
      const wanted = `one of ${PERMISSION_MODES.join(', ')}`;
      if (value === 'auto') this.#ignored(file, way, 'the mode "auto" is not available');
      else this.#mistyped(file, way, { wanted, severity: 'fatal' });
      return;
    }
    const ofProject = file.source === 'project' || file.source === 'local';
    if (ofProject && REACH[mode] > REACH[this.#mode?.value ?? 'default']) {
      // fail-closed: a repository cannot raise the mode, trusted or not.
      this.#ignored(file, way, `a project's files cannot raise the mode to "${mode}"`);
      return;
    }
    this.#mode = sourced(file, way, mode);
  }

  #environment(file: SettingsFile): void {
    const { env } = file.content;
    if (env === undefined) return;
    if (!isRecord(env)) {
      this.#mistyped(file, ['env'], { wanted: 'an object' });
      return;
    }
    if (Object.keys(env).length === 0 || !this.#mayGrant(file, ['env'])) return;
    const ofProject = file.source === 'project' || file.source === 'local';
    for (const [name, value] of Object.entries(env)) {
      const way = ['env', name];
      // fail-closed: what steers this program itself is not a repository's to set.
      if (ofProject && name.toUpperCase().startsWith('PORTCULLIS_')) {
        this.#ignored(file, way, "a project's files cannot set variables of this program");
        continue;
      }
      if (typeof value === 'string') this.#env[name] = sourced(file, way, value);
      else if (typeof value === 'number' || typeof value === 'boolean') {
        this.#env[name] = sourced(file, way, String(value));
      } else this.#mistyped(file, way, { wanted: 'a string' });
    }
  }

  #strings(file: SettingsFile, way: readonly string[], value: unknown): readonly string[] {
    if (value === undefined) return [];
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (isList) return value as string[];
    this.#mistyped(file, way, { wanted: 'a list of strings', severity: 'fatal' });
    return [];
  }

  #mayGrant(file: SettingsFile, way: readonly string[]): boolean {
    if (file.trusted) return true;
    this.#problems.push({
      severity: 'note',
      ...placeOf(file, way),
      message: `\`${way.join('.')}\` is not in force because this folder is not trusted.`,
      remedy: 'Start with --trust to accept what the folder grants.',
    });
    return false;
  }

  #ignored(file: SettingsFile, way: readonly string[], why: string): void {
    this.#problems.push({
      severity: 'warning',
      ...placeOf(file, way),
      message: `\`${way.join('.')}\` is ignored: ${why}.`,
      remedy: 'Set it on the command line or in your own settings.',
    });
  }

  #mistyped(
    file: SettingsFile,
    way: readonly string[],
    what: { wanted: string; severity?: 'fatal' },
  ): void {
    this.#problems.push({
      severity: what.severity ?? 'warning',
      ...placeOf(file, way),
      message: `\`${way.join('.')}\` must be ${what.wanted}.`,
      remedy: 'Correct the value.',
    });
  }
}

function placeOf(
  file: SettingsFile,
  way: readonly (string | number)[],
): { file?: string; line?: number } {
  const line = file.lineOf(way);
  return {
    ...(file.file === undefined ? {} : { file: file.file }),
    ...(line === undefined ? {} : { line }),
  };
}

function sourced<T>(file: SettingsFile, way: readonly (string | number)[], value: T): Sourced<T> {
  return { value, source: file.source, trusted: file.trusted, ...placeOf(file, way) };
}
