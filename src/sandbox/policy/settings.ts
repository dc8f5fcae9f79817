import { isRecord } from '../../lib/own.js';
import { originOf, type Sourced } from '../../lib/sourced.js';
import { parseCommandPattern } from '../../permissions/rules/command-pattern.js';
import { type DomainPattern, parseDomain } from '../../permissions/rules/domain.js';
import type { CommandPattern } from '../../permissions/rules/rules.js';
import { dirname, expandHome, resolve } from '../../platform/fs/paths.js';
import {
  type ConfigProblem,
  type EffectiveSettings,
  isOfAdministrator,
  isOfProject,
  type SettingValues,
} from '../../settings/types.js';
import { spotOfPath } from './rules.js';

/** The values of `sandbox.*` and `portcullis.sandbox.*` after locks and trust. */
export interface SandboxSettings {
  /** The setting that enables the sandbox; undefined when it is off. */
  readonly enabled: Sourced<true> | undefined;
  /** Programs must not run without a sandbox; true by default. */
  readonly required: boolean;
  /** Sandboxed commands need no permission. */
  readonly autoAllow: boolean;
  /** Whether a command may ask to run outside. */
  readonly mayLeave: boolean;
  /** Commands that run outside, as patterns of Bash rules. */
  readonly excluded: readonly ExcludedCommand[];
  readonly hooks: boolean;
  readonly servers: boolean;
  /** Servers that run outside. */
  readonly excludedServers: ReadonlySet<string>;
  /** Restricts only the network, not files. */
  readonly filesOpen: boolean;
  /** Absolute paths; the denied ones may contain wildcards. */
  readonly allowWrite: readonly string[];
  readonly denyWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly allowRead: readonly string[];
  /** Directories of the checkout that agent worktrees link to (`worktree.symlinkDirectories`). */
  readonly linkedDirectories: readonly string[];
  readonly allowedDomains: readonly DomainPattern[];
  readonly deniedDomains: readonly DomainPattern[];
  /** Only an administrator's WebFetch rules count. */
  readonly managedDomainsOnly: boolean;
  /** Variables removed from the environment of sandboxed programs. */
  readonly droppedVariables: readonly string[];
  readonly nestedUserNamespaces: boolean;
  readonly localBinding: boolean;
  readonly unixSockets: 'all' | readonly string[];
  readonly bwrapPath: string | undefined;
  /** Settings that cannot be honoured. */
  readonly problems: readonly ConfigProblem[];
}

interface ExcludedCommand {
  readonly pattern: CommandPattern;
  /** The text with its source. */
  readonly label: string;
}

interface SettingsPlace {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
}

/** Reads the effective settings; on conflict the stricter one wins. */
export function sandboxSettings(values: SettingValues, place: SettingsPlace): SandboxSettings {
  const problems: ConfigProblem[] = [];
  const flag = (key: string): boolean => values.get(key)?.value === true;
  const managedDomainsOnly = flag('sandbox.network.allowManagedDomainsOnly');
  const leaving = values.get('sandbox.allowUnsandboxedCommands');
  const mayLeave = leaving?.value !== false;
  // A lock by the user or administrator also stops a repository from widening it.
  const locked = managedDomainsOnly || (leaving?.value === false && !isOfProject(leaving.source));
  const counts = (one: Sourced<unknown>): boolean => !(locked && isOfProject(one.source));
  const texts = (key: string): readonly Sourced<string>[] =>
    values
      .list(key)
      .filter((one): one is Sourced<string> => typeof one.value === 'string' && one.value !== '');
  const granted = (key: string): readonly Sourced<string>[] => texts(key).filter(counts);
  const isGranted = (key: string): boolean => {
    const one = values.get(key);
    return one?.value === true && counts(one);
  };
  const paths = (key: string): readonly string[] => texts(key).map((one) => absolute(one, place));
  const opened = (list: readonly Sourced<string>[]): readonly string[] =>
    list.flatMap((one) => openedPath(one, place, problems));
  const managedReadsOnly = flag('sandbox.filesystem.allowManagedReadPathsOnly');
  const allowRead = granted('sandbox.filesystem.allowRead').filter(
    (one) => !managedReadsOnly || isOfAdministrator(one.source),
  );
  const credentials = readCredentials(values, place, problems);
  const allowedDomains = granted('sandbox.network.allowedDomains').filter(
    (one) => !managedDomainsOnly || isOfAdministrator(one.source),
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
    allowWrite: opened(granted('sandbox.filesystem.allowWrite')),
    denyWrite: paths('sandbox.filesystem.denyWrite'),
    denyRead: [...paths('sandbox.filesystem.denyRead'), ...credentials.files],
    allowRead: opened(allowRead),
    linkedDirectories: texts('worktree.symlinkDirectories').map(({ value }) => value),
    allowedDomains: domainsOf(allowedDomains, problems, 'warning'),
    deniedDomains: domainsOf(texts('sandbox.network.deniedDomains'), problems, 'fatal'),
    managedDomainsOnly,
    droppedVariables: credentials.variables,
    nestedUserNamespaces: isGranted('sandbox.allowNestedUserNamespaces'),
    localBinding: isGranted('sandbox.network.allowLocalBinding'),
    unixSockets: isGranted('sandbox.network.allowAllUnixSockets')
      ? 'all'
      : granted('sandbox.network.allowUnixSockets').map((one) => absolute(one, place)),
    bwrapPath: textOf(values.get('sandbox.bwrapPath')),
    problems,
  };
}

/** fail-closed: a requested sandbox is required unless a trusted source waives it. */
function isRequired(values: SettingValues): boolean {
  const said = values.said('sandbox.failIfUnavailable');
  if (said.some(({ value }) => value === true)) return true;
  const enabled = sandboxAskedBy(values);
  const decides = said.find(
    (one) => !isOfProject(one.source) || (enabled && isOfProject(enabled.source)),
  );
  return decides?.value !== false;
}

function excludedOf(one: Sourced<string>, problems: ConfigProblem[]): ExcludedCommand {
  // `Bash(docker *)` is accepted too.
  const text = /^Bash\((.*)\)$/s.exec(one.value.trim())?.[1] ?? one.value;
  const pattern = parseCommandPattern(text);
  if (pattern.tokens === undefined && /^\S+$/.test(text.trim())) {
    const message = `\`sandbox.excludedCommands\`: "${one.value}" is that command without arguments alone.`;
    const remedy = `Write "${text.trim()} *" for all uses of it.`;
    problems.push({ severity: 'warning', ...placeOf(one), message, remedy });
  }
  return { pattern, label: `${one.value} (${originOf(one)})` };
}

/** The path that a setting opens; a pattern opens nothing. */
function openedPath(
  one: Sourced<string>,
  place: SettingsPlace,
  problems: ConfigProblem[],
): readonly string[] {
  const spot = spotOfPath(absolute(one, place), place);
  if (spot.kind === 'place') return [spot.path];
  const message = `the sandbox opens no patterns, so "${one.value}" opens nothing.`;
  problems.push({ severity: 'warning', ...placeOf(one), message, remedy: 'Name the directory.' });
  return [];
}

/** fail-closed: an invalid denied domain stops the start; an invalid allowed one grants nothing. */
function domainsOf(
  list: readonly Sourced<string>[],
  problems: ConfigProblem[],
  severity: ConfigProblem['severity'],
): readonly DomainPattern[] {
  return list.flatMap((one) => {
    const pattern = parseDomain(`domain:${one.value}`);
    if (pattern !== undefined) return [pattern];
    const message = `"${one.value}" in \`sandbox.network\` is not a domain.`;
    const remedy = 'Write example.com or *.example.com.';
    problems.push({ severity, ...placeOf(one), message, remedy });
    return [];
  });
}

interface Credentials {
  readonly files: readonly string[];
  readonly variables: readonly string[];
}

function readCredentials(
  values: SettingValues,
  place: SettingsPlace,
  problems: ConfigProblem[],
): Credentials {
  const files: string[] = [];
  const variables: string[] = [];
  const wrong = (one: Sourced<unknown>, message: string, remedy: string): void => {
    // fail-closed: an exposed secret is a fatal problem.
    problems.push({ severity: 'fatal', ...placeOf(one), message, remedy });
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
  read('sandbox.credentials.files', 'path', (one) => files.push(absolute(one, place)));
  read('sandbox.credentials.envVars', 'name', ({ value }) => variables.push(value));
  return { files, variables };
}

/**
 * Resolves `/x` as absolute, `~/x` in the home, and other paths in the project or, for the user's settings,
 * in their directory.
 */
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

/** The place of a value, for a problem with it. */
export function placeOf({ source, file, line }: Sourced<unknown>): Partial<ConfigProblem> {
  return { source, file, line };
}

function textOf(one: Sourced<unknown> | undefined): string | undefined {
  return typeof one?.value === 'string' ? one.value : undefined;
}

/**
 * The setting that enables the sandbox, if any. A repository can enable it, but disable it only when no other
 * source sets it.
 */
export function sandboxAskedBy(values: SettingValues): Sourced<true> | undefined {
  const said = values.said('sandbox.enabled');
  const others = said.find((one) => !isOfProject(one.source));
  const isOn = (one: Sourced<unknown> | undefined): one is Sourced<true> => one?.value === true;
  return isOn(others) ? others : said.filter((one) => isOfProject(one.source)).find(isOn);
}

/** Settings files named on the command line, which may be anywhere, even in the project. */
export function namedSettings({ places }: Pick<EffectiveSettings, 'places'>): readonly string[] {
  return places.filter(({ source }) => source === 'cli').map(({ path }) => path);
}
