import type { AgentSession } from '../app.js';
import { isRecord } from '../lib/own.js';
import type { Options, PolicyReport, PolicyRule } from './types/index.js';

/** What decides calls in a session before a person or host is asked. */
export function policyReport(session: AgentSession, options: Options): PolicyReport {
  const state = session.inspect.rules();
  const { mode } = session.info();
  const listed = Array.isArray(state.rules) ? state.rules : [];
  const directories = Array.isArray(state.workspaceDirectories) ? state.workspaceDirectories : [];
  return {
    mode,
    modePreempts: PREEMPTS.get(mode) ?? '',
    rules: listed.flatMap(ruleOf),
    directories: directories.map(String),
    managedOnly: state.managedOnly === true,
    fileGrantsIgnored: options.ignoreFileGrants === true,
    asks:
      options.permissionPrompts === 'none'
        ? 'nobody'
        : options.canUseTool !== undefined
          ? 'canUseTool'
          : options.permissionPromptToolName !== undefined
            ? 'tool'
            : 'nobody',
  };
}

const PREEMPTS: ReadonlyMap<string, string> = new Map([
  ['acceptEdits', 'lets edits of files inside the directories through'],
  ['bypassPermissions', 'lets everything through that no rule denies or asks about'],
  ['dontAsk', 'refuses everything that no rule allows'],
]);

function ruleOf(entry: unknown): readonly PolicyRule[] {
  if (!isRecord(entry)) return [];
  const { rule, behavior, source, file, line } = entry;
  if (behavior !== 'allow' && behavior !== 'ask' && behavior !== 'deny') return [];
  return [
    {
      rule: String(rule),
      behavior,
      source: String(source),
      ...(typeof file === 'string' ? { file } : {}),
      ...(typeof line === 'number' ? { line } : {}),
      // What is asked about is what the callback is for.
      preemptsCallback: behavior !== 'ask',
    },
  ];
}
