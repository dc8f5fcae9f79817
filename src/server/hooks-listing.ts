import { type AgentSession, wireSource } from '../app.js';
import { isRecord } from '../lib/own.js';
import { visible } from '../lib/text/visible.js';
import { HOOK_EVENTS } from '../protocol/hooks/hook-events.js';

type Report = ReturnType<AgentSession['hooks']>;
type Captured = NonNullable<Report['set']['hooks']['PreToolUse']>[number];

/** The hooks in force, by event, as hosts list them. */
export function hooksListing(
  { set }: Report,
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const catalog = Object.entries(HOOK_EVENTS).map(([name, facts]) => ({
    name,
    summary: SUMMARY[facts.role],
    supportsMatcher: facts.matches !== 'nothing',
  }));
  const hooks = Object.values(set.hooks).flatMap((list) => list.map(row));
  const counted = (name: string): number => hooks.filter(({ event }) => event === name).length;
  return {
    events: catalog
      .map((entry) => ({ ...entry, hookCount: counted(entry.name) }))
      .filter(({ hookCount }) => hookCount > 0),
    hooks,
    eventCatalog: catalog,
    policy: {
      ...switches(settings),
      pluginOnly: false,
      policyHookCount: hooks.filter(({ source }) => source === 'policySettings').length,
    },
    skipped: set.skipped,
    notes: set.notes,
  };
}

/** What settings say of all hooks together. A project's word reaches no further than its own hooks. */
function switches({ sources }: Readonly<Record<string, unknown>>) {
  const list = Array.isArray(sources) ? sources.filter(isRecord) : [];
  const says = (key: string, among: (source: unknown) => boolean): boolean =>
    list.some(
      ({ source, settings }) => among(source) && isRecord(settings) && settings[key] === true,
    );
  const isPolicy = (source: unknown): boolean => source === 'policySettings';
  const isProject = (source: unknown): boolean =>
    source === 'projectSettings' || source === 'localSettings';
  return {
    disabledByPolicy: says('disableAllHooks', isPolicy),
    managedOnly: says('allowManagedHooksOnly', isPolicy),
    allDisabled: says('disableAllHooks', (source) => !isProject(source)),
  };
}

const SUMMARY = {
  gate: 'May refuse; refuses too when it fails',
  block: 'May hold things up',
  observe: 'Only watches',
} as const;

function row({ hook, standing }: Captured) {
  const { handler } = hook;
  const shown = visible(textOf(handler));
  return {
    event: hook.event,
    matcher: visible(hook.matcher ?? ''),
    source: standing === 'callback' ? 'sessionHook' : wireSource(hook.source),
    sourceLabel: hook.file ?? hook.source,
    type: handler.type,
    displayText: visible(handler.statusMessage ?? shown),
    commandText: shown,
    contentLabel: LABELS[handler.type],
    condition: handler.if === undefined ? undefined : visible(handler.if),
    timeout: hook.timeoutMs / 1000,
    ...(handler.statusMessage === undefined
      ? {}
      : { statusMessage: visible(handler.statusMessage) }),
    ...(handler.once === true ? { runsOnce: true } : {}),
    ...(handler.type === 'command' && handler.async === true ? { runsInBackground: true } : {}),
  };
}

const LABELS: Readonly<Record<Captured['hook']['handler']['type'], string>> = {
  command: 'Command',
  http: 'URL',
  mcp_tool: 'Tool',
  prompt: 'Prompt',
  agent: 'Prompt',
  callback: 'Callback',
};

function textOf(handler: Captured['hook']['handler']): string {
  switch (handler.type) {
    case 'command':
      return [handler.command, ...(handler.args ?? [])].join(' ');
    case 'http':
      return handler.url;
    case 'mcp_tool':
      return `${handler.server}/${handler.tool}`;
    case 'prompt':
    case 'agent':
      return handler.prompt;
    case 'callback':
      return handler.id;
  }
}
