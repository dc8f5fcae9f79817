import { isRecord } from '../../lib/own.js';
import { type SettingNode, strictValues } from '../../protocol/settings/setting-node.js';
import { innerNode, SETTINGS_ROOT } from '../merge/merge.js';
import { projectMayNotSet } from './env.js';
import type { DeclarationKind, TrustItem } from './types.js';

/**
 * The trust items of project settings: keys with `needsTrust` and a value that is not strict. All other
 * settings apply without trust.
 */
export function settingsItems(content: unknown): readonly TrustItem[] {
  return isRecord(content) ? [...modeItem(content), ...inside(SETTINGS_ROOT, content, [])] : [];
}

type Path = readonly string[];

/** A trusted project may set a mode more permissive than the default. */
function modeItem({ permissions }: Readonly<Record<string, unknown>>): readonly TrustItem[] {
  const mode = isRecord(permissions) ? permissions.defaultMode : undefined;
  if (mode === undefined || mode === null || mode === 'plan' || mode === 'dontAsk') return [];
  return [{ ...item(['permissions', 'defaultMode'], mode), kind: 'mode' }];
}

function inside(node: SettingNode, value: unknown, path: Path): readonly TrustItem[] {
  const child = innerNode(node);
  if (child === undefined || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    const known = child(name);
    return known === undefined ? [] : itemsAt(known, one, [...path, name]);
  });
}

function itemsAt(node: SettingNode, value: unknown, path: Path): readonly TrustItem[] {
  const facts = node.facts ?? {};
  // A key that projects can never set grants nothing.
  if (value === null || facts.scope !== undefined) return [];
  if (facts.needsTrust !== true) return inside(node, value, path);
  if (strictValues(facts).some((one) => one === value)) return [];
  const name = path.join('.');
  const { kind, split } = SHAPES.find(({ key }) => key.test(name)) ?? OTHER;
  return split(path, value).map((one) => ({ ...one, kind }));
}

interface Shape {
  readonly kind: DeclarationKind;
  /** Splits the value into items. */
  split(path: Path, value: unknown): readonly TrustItem[];
}

/** How to present the value of a key; the first pattern that fits its dotted path decides. */
const SHAPES: readonly (Shape & { readonly key: RegExp })[] = [
  { key: /^hooks$/, kind: 'hook', split: hookItems },
  { key: /^(?:permissions|portcullis\..*)\.allow$/s, kind: 'allow rule', split: eachItem },
  { key: /^permissions\./, kind: 'directory', split: eachItem },
  { key: /^sandbox\./, kind: 'sandbox', split: whole },
  { key: /^env$/, kind: 'variable', split: variables },
  { key: /^enabledPlugins$/, kind: 'plugin', split: enabledEntries },
  { key: /Marketplaces$|^pluginConfigs$/, kind: 'plugin', split: eachEntry },
  { key: /^enabledMcpjsonServers$/, kind: 'MCP approval', split: eachItem },
  { key: /^enableAllProjectMcpServers$/, kind: 'MCP approval', split: whole },
  { key: /^(?:statusLine|subagentStatusLine)$/, kind: 'status line', split: program },
  {
    key: /^[^.]*(?:Helper|AuthRefresh|Export|Command|Script)$/,
    kind: 'helper',
    split: program,
  },
];

const OTHER: Shape = { kind: 'setting', split: whole };

function item(path: TrustItem['path'], value: unknown, name = path.join('.')): TrustItem {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return { kind: 'setting', name, path, text, value };
}

function whole(path: Path, value: unknown): readonly TrustItem[] {
  return [item(path, value)];
}

function eachItem(path: Path, value: unknown): readonly TrustItem[] {
  if (!Array.isArray(value)) return whole(path, value);
  return value.map((one: unknown, index) => item([...path, index], one, path.join('.')));
}

function eachEntry(path: Path, value: unknown): readonly TrustItem[] {
  if (!isRecord(value)) return whole(path, value);
  return Object.entries(value).map(([name, one]) => item([...path, name], one, name));
}

function enabledEntries(path: Path, value: unknown): readonly TrustItem[] {
  return eachEntry(path, value).filter((one) => one.value !== false);
}

function variables(path: Path, value: unknown): readonly TrustItem[] {
  if (!isRecord(value)) return whole(path, value);
  // Forbidden variables have no effect in any folder.
  return eachEntry(path, value)
    .filter(({ name }) => projectMayNotSet(name) === undefined)
    .map((one) => ({ ...one, text: `${one.name}=${one.text}` }));
}

function program(path: Path, value: unknown): readonly TrustItem[] {
  const one = item(path, value);
  const text = isRecord(value) && typeof value.command === 'string' ? value.command : one.text;
  return [{ ...one, text, runs: [text] }];
}

/** One item per handler; malformed parts become one item each. */
function hookItems(path: Path, value: unknown): readonly TrustItem[] {
  if (!isRecord(value)) return [unreadHook(value, path, 'hooks')];
  return Object.entries(value).flatMap(([event, groups]) => {
    if (!Array.isArray(groups)) return [unreadHook(groups, [...path, event], event)];
    return groups.flatMap((group: unknown, index) => {
      const at = [...path, event, index];
      if (!isRecord(group) || !Array.isArray(group.hooks)) return [unreadHook(group, at, event)];
      const { hooks, ...matching } = group;
      const { matcher } = matching;
      const name =
        typeof matcher === 'string' && !['', '*'].includes(matcher)
          ? `${event} on ${matcher}`
          : event;
      return hooks.map((handler: unknown, nth) => ({
        kind: 'hook' as const,
        name,
        text: handlerText(handler),
        path: [...at, 'hooks', nth],
        value: { event, matching, handler },
        runs: isRecord(handler) ? stringsIn([handler.command, handler.args]) : [],
      }));
    });
  });
}

function unreadHook(value: unknown, path: TrustItem['path'], name: string): TrustItem {
  const { text, ...rest } = item(path, JSON.stringify(value) ?? '', name);
  return { ...rest, kind: 'hook', text, value, runs: [text] };
}

/** What the hook runs and receives: variables, and header names. */
function handlerText(handler: unknown): string {
  if (!isRecord(handler)) return JSON.stringify(handler) ?? '';
  const { command, args, url, prompt, type, allowedEnvVars, headers } = handler;
  const names = isRecord(headers) ? Object.keys(headers) : [];
  const listed = Array.isArray(allowedEnvVars) ? allowedEnvVars.map(String) : [];
  const runs =
    typeof command === 'string'
      ? [command, ...(Array.isArray(args) ? args.map(String) : [])].join(' ')
      : typeof url === 'string'
        ? `POST ${url}`
        : typeof prompt === 'string'
          ? `${String(type)}: ${prompt}`
          : JSON.stringify(handler);
  return [
    runs,
    listed.length === 0 ? '' : `; allowedEnvVars: ${listed.join(', ')}`,
    names.length === 0 ? '' : `; headers: ${names.join(', ')}`,
  ].join('');
}

export function serverItems(value: unknown): readonly TrustItem[] {
  if (!isRecord(value)) return [];
  const { mcpServers, ...rest } = value;
  return [
    ...Object.entries(isRecord(mcpServers) ? mcpServers : {}).map(([name, server]) =>
      serverItem(name, server, ['mcpServers', name]),
    ),
    // fail-closed: some programs also read servers outside of `mcpServers`.
    ...Object.entries(rest)
      .filter(([, server]) => isRecord(server))
      .map(([name, server]) => serverItem(name, server, [name])),
  ];
}

function serverItem(name: string, server: unknown, path: Path): TrustItem {
  const base = { ...item(path, server, name), kind: 'MCP server' as const };
  if (!isRecord(server)) return { ...base, text: JSON.stringify(server) ?? '', runs: [] };
  const { command, args, url, headersHelper, env } = server;
  const words = stringsIn([command, args]).map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word),
  );
  const parts = [
    words.join(' '),
    typeof url === 'string' ? url : '',
    typeof headersHelper === 'string' ? `headersHelper: ${headersHelper}` : '',
    isRecord(env) ? `env: ${Object.keys(env).join(', ')}` : '',
  ].filter((part) => part !== '');
  const text = parts.length === 0 ? JSON.stringify(server) : parts.join(' · ');
  return { ...base, text, runs: stringsIn([command, args, headersHelper]) };
}

function stringsIn(values: readonly unknown[]): readonly string[] {
  return values.flat(2).filter((value): value is string => typeof value === 'string');
}
