import { isRecord, own } from '../../lib/own.js';
import { projectMayNotSet } from './env.js';
import { hookDrafts } from './hooks.js';
import { sandboxDrafts } from './sandbox.js';
import type { Draft } from './types.js';

type Content = Readonly<Record<string, unknown>>;

/**
 * What a project's settings would run or let happen. Everything else in them (deny and ask rules,
 * looks, model names) holds without trust.
 */
export function settingsDrafts(content: Content): readonly Draft[] {
  return Object.entries(content).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    const drafts = own(READERS, key);
    if (drafts !== undefined) return drafts(value);
    if (Object.hasOwn(PLAIN, key)) return value === PLAIN[key] ? [] : [setting([key], value)];
    if (looksLikeProgram(key, value)) return [program([key], value)];
    return [];
  });
}

/** The same settings without anything that needs trust, for a folder that has none. */
export function withoutGrants(content: Content): Content {
  const rest = structuredClone(content) as Record<string, unknown>;
  for (const { way } of settingsDrafts(content)) {
    const item = way.findIndex((step) => typeof step === 'number');
    removeAt(rest, (item === -1 ? way : way.slice(0, item)) as readonly string[]);
  }
  return rest;
}

const READERS: Readonly<Record<string, (value: unknown) => readonly Draft[]>> = {
  permissions: permissionDrafts,
  hooks: (value) => hookDrafts(value, ['hooks']),
  env: envDrafts,
  sandbox: sandboxDrafts,
  portcullis: ownDrafts,
  enabledPlugins: (value) =>
    entries('enabledPlugins', value, (on) => on !== false).map((draft) => ({
      ...draft,
      kind: 'plugin',
    })),
  enabledMcpjsonServers: (value) =>
    items(['enabledMcpjsonServers'], typeof value === 'string' ? [value] : value, {
      kind: 'MCP approval',
      name: 'enabledMcpjsonServers',
    }),
  enableAllProjectMcpServers: (value) =>
    value === false
      ? []
      : [{ ...setting(['enableAllProjectMcpServers'], value), kind: 'MCP approval' }],
  statusLine: (value) => [{ ...program(['statusLine'], value), kind: 'status line' }],
  subagentStatusLine: (value) => [
    { ...program(['subagentStatusLine'], value), kind: 'status line' },
  ],
  extraKnownMarketplaces: (value) => plugins('extraKnownMarketplaces', value),
  additionalMarketplaces: (value) => plugins('additionalMarketplaces', value),
  pluginConfigs: (value) => plugins('pluginConfigs', value),
};

/** Keys that widen something or switch a guard off, with the one value that does not. */
const PLAIN: Readonly<Record<string, unknown>> = {
  disableAllHooks: false,
  allowedHttpHookUrls: undefined,
  httpHookAllowedEnvVars: undefined,
  disableSkillShellExecution: true,
  fileCheckpointingEnabled: true,
  skipWebFetchPreflight: false,
  skipDangerousModePermissionPrompt: false,
  autoMemoryDirectory: undefined,
  plansDirectory: undefined,
  claudeMdExcludes: undefined,
  cleanupPeriodDays: undefined,
  modelOverrides: undefined,
  agent: undefined,
  worktree: undefined,
};

function permissionDrafts(value: unknown): readonly Draft[] {
  // The loader refuses the start; nothing of it can be in force.
  if (!isRecord(value)) return [];
  const { allow, additionalDirectories, defaultMode, blockReadsExemptPaths } = value;
  const lowers = defaultMode === undefined || defaultMode === 'plan' || defaultMode === 'dontAsk';
  return [
    ...items(['permissions', 'allow'], allow, { kind: 'allow rule', name: 'permissions.allow' }),
    ...items(['permissions', 'additionalDirectories'], additionalDirectories, {
      kind: 'directory',
      name: 'permissions.additionalDirectories',
    }),
    ...items(['permissions', 'blockReadsExemptPaths'], blockReadsExemptPaths, {
      kind: 'directory',
      name: 'permissions.blockReadsExemptPaths',
    }),
    ...(lowers
      ? []
      : [{ ...setting(['permissions', 'defaultMode'], defaultMode), kind: 'mode' as const }]),
  ];
}

function envDrafts(value: unknown): readonly Draft[] {
  if (!isRecord(value)) return [setting(['env'], value)];
  // What a project may never set needs no trust, and trust would not help.
  return entries('env', value, () => true)
    .filter(({ name }) => projectMayNotSet(name) === undefined)
    .map((draft) => ({ ...draft, kind: 'variable', text: `${draft.name}=${draft.text}` }));
}

/** `strict` is not a project's to set; the others only ever hold back. */
const OWN_RESTRICTIONS = new Set(['strict', 'askReadOnly', 'probeHooks']);

/** Words of `hookFailure` that make guards no weaker than they are. */
const STRICT_FAILURE: ReadonlySet<unknown> = new Set(['strict', 'closed', 'block']);

/** Of our own settings: rules for some agents are told apart; what is not known to restrict counts. */
function ownDrafts(value: unknown): readonly Draft[] {
  if (!isRecord(value)) return [setting(['portcullis'], value)];
  return Object.entries(value).flatMap(([key, inner]) => {
    const way = ['portcullis', key];
    if (OWN_RESTRICTIONS.has(key)) return [];
    if (key === 'hookFailure' && STRICT_FAILURE.has(inner)) return [];
    if (key !== 'agents') return [setting(way, inner)];
    if (!isRecord(inner)) return [setting(way, inner)];
    return Object.entries(inner).flatMap(([pattern, rules]) => {
      if (!isRecord(rules)) return [setting([...way, pattern], rules)];
      return Object.entries(rules).flatMap(([list, texts]) => {
        if (list === 'deny' || list === 'ask') return [];
        const name = `portcullis.agents.${pattern}.${list}`;
        return items([...way, pattern, list], texts, { kind: 'allow rule', name });
      });
    });
  });
}

function plugins(key: string, value: unknown): readonly Draft[] {
  return entries(key, value, () => true).map((draft) => ({ ...draft, kind: 'plugin' }));
}

/** One draft for each item of a list; anything else is one draft. */
function items(
  way: readonly string[],
  value: unknown,
  what: Pick<Draft, 'kind' | 'name'>,
): readonly Draft[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ ...setting(way, value), ...what }];
  return value.map((item, index) => ({
    ...what,
    way: [...way, index],
    text: textOf(item),
    value: item,
  }));
}

function entries(
  key: string,
  value: unknown,
  counts: (value: unknown) => boolean,
): readonly Draft[] {
  if (!isRecord(value)) return [setting([key], value)];
  return Object.entries(value)
    .filter(([, inner]) => counts(inner))
    .map(([name, inner]) => ({ ...setting([key, name], inner), name }));
}

function setting(way: readonly string[], value: unknown): Draft {
  return { kind: 'setting', name: way.join('.'), way, text: textOf(value), value };
}

function program(way: readonly string[], value: unknown): Draft {
  const command = isRecord(value) && typeof value.command === 'string' ? value.command : undefined;
  const text = command ?? textOf(value);
  return { ...setting(way, value), kind: 'helper', text, runs: [text] };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const PROGRAM_KEY =
  /(Helper|AuthRefresh|Export|Exporter|Command|HostCommands|Wrapper|Script|Program|Executable)$/;

/** fail-closed: also a key that nobody here knows yet needs trust when it names a program. */
function looksLikeProgram(key: string, value: unknown): boolean {
  return (PROGRAM_KEY.test(key) && typeof value !== 'boolean') || holdsCommand(value, 0);
}

function holdsCommand(value: unknown, depth: number): boolean {
  if (depth > 20) return true;
  if (Array.isArray(value)) return value.some((item) => holdsCommand(item, depth + 1));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => key === 'command' || holdsCommand(inner, depth + 1),
  );
}

function removeAt(target: Record<string, unknown>, way: readonly string[]): void {
  const [key = '', ...rest] = way;
  if (rest.length === 0) delete target[key];
  else {
    const inner = target[key];
    if (isRecord(inner)) removeAt(inner, rest);
  }
}
