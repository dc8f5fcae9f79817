import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { AgentSpent } from '../../protocol/session-events.js';
import { hookSwitches } from '../../settings/merge/switches.js';
import type { EffectiveSettings, SourcedRule } from '../../settings/types.js';
import type { Parts } from './session-parts.js';

/** What a host may query about an open session, as plain data for the wire. */
export interface SessionInspection {
  /** The effective settings, and each source as written. */
  settings(): Readonly<Record<string, unknown>>;
  /** Every effective permission rule, and the directories that count as inside. */
  rules(): Readonly<Record<string, unknown>>;
  /** The command that prints a terminal's status line; undefined when none may run. */
  statusLine(): StatusLine | undefined;
  /** What one agent has used, and what it has left. */
  spent(path: string): AgentSpent;
}

export interface StatusLine {
  readonly command: string;
  /** Seconds between two runs, in addition to those after events. */
  readonly refreshInterval?: number | undefined;
}

export function createInspection(
  { cwd, effort, allowedTools = [], disallowedTools = [] }: SessionConfig,
  environment: SessionEnvironment,
  { model: layer, toolRuntime }: Parts,
): SessionInspection {
  const flags = { deny: disallowedTools, allow: allowedTools };
  return {
    settings() {
      const { settings } = environment;
      const { permissions, model } = settings;
      return {
        effective: {
          permissions: {
            allow: texts(permissions.allow),
            ask: texts(permissions.ask),
            deny: texts(permissions.deny),
            additionalDirectories: permissions.additionalDirectories.map(({ value }) => value),
            defaultMode: permissions.defaultMode?.value,
          },
          env: Object.fromEntries(
            Object.entries(settings.env).map(([name, { value }]) => [name, value]),
          ),
          model: model?.value,
        },
        sources: settings.files.map(({ source, file, content }) => ({
          source: wireSource(source),
          file,
          settings: content,
        })),
        applied: { model: layer.choices.current().model, effort: effort ?? null },
      };
    },
    rules() {
      const { permissions } = environment.settings;
      const listed = (['deny', 'ask', 'allow'] as const).flatMap((behavior) =>
        permissions[behavior].map((rule) => ({
          behavior,
          source: wireSource(rule.source),
          rule: rule.value.text,
          editability: EDITABLE.has(rule.source) ? 'editable' : 'readonly',
          file: rule.file,
          line: rule.line,
        })),
      );
      const flagged = (['deny', 'allow'] as const).flatMap((behavior) =>
        flags[behavior].map((rule) => ({
          behavior,
          source: 'cliArg',
          rule,
          editability: 'readonly',
        })),
      );
      const inForce = toolRuntime.permissions.rules(MAIN_AGENT);
      const answered = (['deny', 'ask', 'allow'] as const).flatMap((behavior) => {
        const rules = inForce[behavior].filter(({ origin }) => origin.source === 'answer');
        return [...new Set(rules.map(({ text }) => text))].map((rule) => ({
          behavior,
          source: 'session',
          rule,
          editability: 'editable',
        }));
      });
      return {
        rules: [...flagged, ...answered, ...listed],
        workspaceDirectories: environment.workspace.roots,
        originalCwd: cwd,
        managedOnly: permissions.managedRulesOnly !== undefined,
      };
    },
    statusLine: () => statusLineOf(environment.settings),
    spent: layer.budget.spent,
  };
}

/**
 * fail-closed: a project's status line command runs only in a trusted folder and when neither the
 * administrator nor the person set one; a source whose hooks are disabled has no status line either.
 */
function statusLineOf({ values }: Pick<EffectiveSettings, 'values'>): StatusLine | undefined {
  const said = values.said('statusLine.command');
  const isOfProject = ({ source }: { readonly source: string }): boolean =>
    source === 'project' || source === 'local';
  const chosen = said.find((one) => !isOfProject(one)) ?? said[0];
  if (typeof chosen?.value !== 'string') return undefined;
  if (hookSwitches({ values }).disabled(chosen.source) !== undefined) return undefined;
  const interval = values
    .said('statusLine.refreshInterval')
    .find(({ source }) => source === chosen.source)?.value;
  return {
    command: chosen.value,
    refreshInterval: typeof interval === 'number' ? interval : undefined,
  };
}

const EDITABLE: ReadonlySet<string> = new Set(['user', 'project', 'local']);

/** The names that hosts know for the sources of settings. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['managed', 'policySettings'],
  ['cli', 'flagSettings'],
  ['sdk', 'flagSettings'],
  ['local', 'localSettings'],
  ['project', 'projectSettings'],
  ['user', 'userSettings'],
]);

export function wireSource(source: string): string {
  return SOURCES.get(source) ?? source;
}

function texts(rules: readonly SourcedRule[]): readonly string[] {
  return rules.map(({ value }) => value.text);
}
