import { isRecord } from '../../lib/own.js';
import { originOf, type Sourced } from '../../lib/sourced.js';
import { parseCommandPattern } from '../../permissions/rules/command-pattern.js';
import { parseDomain } from '../../permissions/rules/domain.js';
import type { CommandPattern } from '../../permissions/rules/rules.js';
import { dirname, expandHome, resolve } from '../../platform/fs/paths.js';
import { type EffectiveSettings, isOfProject, type SettingValues } from '../../settings/types.js';

/** What `sandbox.*` and `portcullis.sandbox.*` say, after locks and trust. */
export interface SandboxSettings {
  /** Who asked for it; undefined: nothing is fenced. */
  readonly enabled: Sourced<true> | undefined;
  /** Nothing starts where there is no sandbox. True unless somebody who may says otherwise. */
  readonly required: boolean;
  /** Commands that run inside need no asking. */
  readonly autoAllow: boolean;
  /** Whether a command may ask to run outside. */
  readonly mayLeave: boolean;
  /** Commands that run outside, each as a rule for Bash would name it. */
  readonly excluded: readonly ExcludedCommand[];
  readonly hooks: boolean;
  readonly servers: boolean;
  /** Names of servers that run outside. */
  readonly excludedServers: ReadonlySet<string>;
  /** No fence around files, only around the network. */
  readonly filesOpen: boolean;
  readonly allowWrite: readonly SandboxPath[];
  readonly denyWrite: readonly SandboxPath[];
  readonly denyRead: readonly SandboxPath[];
  readonly allowRead: readonly SandboxPath[];
  /** Directories of the checkout that trees of agents have as links (`worktree.symlinkDirectories`). */
  readonly linkedDirectories: readonly string[];
  readonly allowedDomains: readonly Sourced<string>[];
  readonly deniedDomains: readonly Sourced<string>[];
  /** Rules for WebFetch count only where an administrator wrote them. */
  readonly managedDomainsOnly: boolean;
  /** Names of variables that no sandboxed program gets. */
  readonly droppedVariables: readonly string[];
  readonly nestedUserNamespaces: boolean;
  readonly localBinding: boolean;
  readonly unixSockets: 'all' | readonly string[];
  readonly bwrapPath: string | undefined;
  /** What cannot be honoured, in words for people. */
  readonly problems: readonly SandboxProblem[];
}

export interface ExcludedCommand {
  readonly pattern: CommandPattern;
  /** As written, with its place. */
  readonly label: string;
}

/** A path of a settings file. */
export interface SandboxPath {
  /** Absolute, with its wildcards. */
  readonly path: string;
  readonly label: string;
}

export interface SandboxProblem {
  readonly severity: 'fatal' | 'warning';
  readonly message: string;
  readonly remedy: string;
  readonly source: Sourced<unknown>;
}

export interface SettingsPlace {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
}

/** Reads what is in force. Where two say different things, the stricter holds. */
export function sandboxSettings(values: SettingValues, place: SettingsPlace): SandboxSettings {
  const problems: SandboxProblem[] = [];
  const flag = (key: string): boolean => values.get(key)?.value === true;
  const managedDomainsOnly = flag('sandbox.network.allowManagedDomainsOnly');
  const leaving = values.get('sandbox.allowUnsandboxedCommands');
  const mayLeave = leaving?.value !== false;
  // Whoever locks it from above does not want a repository to widen it.
  const locked = managedDomainsOnly || (leaving?.value === false && !isOfProject(leaving.source));
  const counts = (one: Sourced<unknown>): boolean => !(locked && isOfProject(one.source));
  const texts = (key: string): readonly Sourced<string>[] =>
    values
      .list(key)
      .filter((one): one is Sourced<string> => typeof one.value === 'string' && one.value !== '');
  const granted = (key: string): readonly Sourced<string>[] => texts(key).filter(counts);
  const paths = (list: readonly Sourced<string>[]): readonly SandboxPath[] =>
    list.map((one) => ({ path: absolute(one, place), label: labelOf(one) }));
  const managedReadsOnly = flag('sandbox.filesystem.allowManagedReadPathsOnly');
  const allowRead = granted('sandbox.filesystem.allowRead').filter(
    (one) => !managedReadsOnly || isOfAdministrator(one),
  );
  const credentials = readCredentials(values, place, problems);
  const allowedDomains = granted('sandbox.network.allowedDomains').filter(
    (one) => !managedDomainsOnly || isOfAdministrator(one),
  );
  return {
    enabled: sandboxAskedBy(values),
    required: isRequired(values),
    autoAllow: flag('sandbox.autoAllowBashIfSandboxed'),
    mayLeave,
    excluded: granted('sandbox.excludedCommands').map((one) => excludedOf(one, problems)),
    hooks: values.get('portcullis.sandbox.hooks')?.value !== false,
    servers: values.get('portcullis.sandbox.mcpServers')?.value !== false,
    excludedServers: new Set(
      texts('portcullis.sandbox.excludedMcpServers').map(({ value }) => value),
    ),
    filesOpen: flag('sandbox.filesystem.disabled'),
    allowWrite: paths(granted('sandbox.filesystem.allowWrite')),
    denyWrite: paths(texts('sandbox.filesystem.denyWrite')),
    denyRead: [...paths(texts('sandbox.filesystem.denyRead')), ...credentials.files],
    allowRead: paths(allowRead),
    linkedDirectories: texts('worktree.symlinkDirectories').map(({ value }) => value),
    allowedDomains: domainsOf(allowedDomains, problems, 'warning'),
    deniedDomains: domainsOf(texts('sandbox.network.deniedDomains'), problems, 'fatal'),
    managedDomainsOnly,
    droppedVariables: credentials.variables,
    nestedUserNamespaces: isGranted(values, 'sandbox.allowNestedUserNamespaces', counts),
    localBinding: isGranted(values, 'sandbox.network.allowLocalBinding', counts),
    unixSockets: isGranted(values, 'sandbox.network.allowAllUnixSockets', counts)
      ? 'all'
      : granted('sandbox.network.allowUnixSockets').map((one) => absolute(one, place)),
    bwrapPath: textOf(values.get('sandbox.bwrapPath')),
    problems,
  };
}

/** fail-closed: who asks for a sandbox gets one or nothing, unless he says that he can do without. */
function isRequired(values: SettingValues): boolean {
  const said = values.said('sandbox.failIfUnavailable');
  if (said.some(({ value }) => value === true)) return true;
  const enabled = sandboxAskedBy(values);
  const decides = said.find(
    (one) => !isOfProject(one.source) || (enabled && isOfProject(enabled.source)),
  );
  return decides?.value !== false;
}

function isGranted(
  values: SettingValues,
  key: string,
  counts: (one: Sourced<unknown>) => boolean,
): boolean {
  const one = values.get(key);
  return one?.value === true && counts(one);
}

function excludedOf(one: Sourced<string>, problems: SandboxProblem[]): ExcludedCommand {
  // `Bash(docker *)` is understood as well.
  const text = /^Bash\((.*)\)$/s.exec(one.value.trim())?.[1] ?? one.value;
  const pattern = parseCommandPattern(text);
  if (pattern.tokens === undefined && /^\S+$/.test(text.trim())) {
    problems.push({
      severity: 'warning',
      message: `\`sandbox.excludedCommands\`: "${one.value}" is that command without arguments alone.`,
      remedy: `Write "${text.trim()} *" for all uses of it.`,
      source: one,
    });
  }
  return { pattern, label: labelOf(one) };
}

/** fail-closed: a ban that nobody understands stops the start; a grant that nobody understands opens nothing. */
function domainsOf(
  list: readonly Sourced<string>[],
  problems: SandboxProblem[],
  severity: SandboxProblem['severity'],
): readonly Sourced<string>[] {
  return list.filter((one) => {
    if (parseDomain(`domain:${one.value}`) !== undefined) return true;
    const message = `"${one.value}" in \`sandbox.network\` is not a domain.`;
    problems.push({
      severity,
      message,
      remedy: 'Write example.com or *.example.com.',
      source: one,
    });
    return false;
  });
}

interface Credentials {
  readonly files: readonly SandboxPath[];
  readonly variables: readonly string[];
}

function readCredentials(
  values: SettingValues,
  place: SettingsPlace,
  problems: SandboxProblem[],
): Credentials {
  const files: SandboxPath[] = [];
  const variables: string[] = [];
  const wrong = (source: Sourced<unknown>, message: string, remedy: string): void => {
    // fail-closed: a secret that would be seen after all is no detail.
    problems.push({ severity: 'fatal', message, remedy, source });
  };
  const read = (key: string, field: string, take: (one: Sourced<string>) => void): void => {
    for (const one of values.list(key)) {
      const value = isRecord(one.value) ? one.value[field] : undefined;
      const mode = isRecord(one.value) ? (one.value.mode ?? 'deny') : undefined;
      if (typeof value !== 'string' || value === '') {
        wrong(one, `an entry of \`${key}\` has no ${field}.`, `Write {"${field}": …}.`);
      } else if (mode !== 'deny') {
        const remedy = 'Write "mode": "deny": sandboxed programs then do not see it at all.';
        wrong(one, `\`${key}\`: the mode "${String(mode)}" of ${value} is not available.`, remedy);
      }
      if (typeof value === 'string') take({ ...one, value });
    }
  };
  read('sandbox.credentials.files', 'path', (one) =>
    files.push({ path: absolute(one, place), label: labelOf(one) }),
  );
  read('sandbox.credentials.envVars', 'name', ({ value }) => variables.push(value));
  return { files, variables };
}

/** `/x` is absolute, `~/x` in the home, all else is in the project; for the user's own file in its directory. */
function absolute(one: Sourced<string>, place: SettingsPlace): string {
  const text = one.value.startsWith('//') ? one.value.slice(1) : one.value;
  const expanded = expandHome(text, place.home);
  return resolve(baseOf(one, place), expanded);
}

function baseOf({ source, file }: Sourced<unknown>, { cwd, configDir }: SettingsPlace): string {
  if (source === 'user') return configDir;
  const isProject = source === 'project' || source === 'local';
  return isProject && file !== undefined ? dirname(dirname(file)) : cwd;
}

function isOfAdministrator({ source }: Sourced<unknown>): boolean {
  return source === 'managed' || source === 'sdk';
}

function labelOf(one: Sourced<string>): string {
  return `${one.value} (${originOf(one)})`;
}

function textOf(one: Sourced<unknown> | undefined): string | undefined {
  return typeof one?.value === 'string' ? one.value : undefined;
}

/**
 * Who asks for a sandbox; undefined: nobody does. A repository can switch it on, and off only where
 * nobody else has said anything.
 */
export function sandboxAskedBy(values: SettingValues): Sourced<true> | undefined {
  const said = values.said('sandbox.enabled');
  const others = said.find((one) => !isOfProject(one.source));
  const isOn = (one: Sourced<unknown> | undefined): one is Sourced<true> => one?.value === true;
  return isOn(others) ? others : said.filter((one) => isOfProject(one.source)).find(isOn);
}

/** Files of settings that the command line named: they can lie anywhere, in the project too. */
export function namedSettings({ places }: Pick<EffectiveSettings, 'places'>): readonly string[] {
  return places.filter(({ source }) => source === 'cli').map(({ path }) => path);
}
