import { readFileSync, statSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../errors.js';
import type { SessionConfig, TeamRole } from '../harness.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import type { ParsedArgs } from './args.js';

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** The command line, understood: how to talk to the outside, and the session to open. */
export interface CliOptions {
  readonly print: boolean;
  readonly outputFormat: OutputFormat;
  readonly streamInput: boolean;
  /** The message before which files are put back; then the program leaves. */
  readonly rewindFiles?: { readonly sessionId: string; readonly messageId: string } | undefined;
  readonly partialMessages: boolean;
  readonly replayPrompts: boolean;
  readonly decisions: boolean;
  readonly verbose: boolean;
  /** Send what agents say, and not only what they do. */
  readonly agentTexts: boolean;
  /** Send the start and end of every hook. */
  readonly hookEvents: boolean;
  /** Prompts wait until the program that drives us has initialised the session. */
  readonly awaitsInitialize: boolean;
  /** Run the hooks of the start, then leave. */
  readonly initOnly: boolean;
  readonly debug: boolean;
  readonly debugFile: string | undefined;
  readonly prompt: string | undefined;
  /** Asks go over the control channel. */
  readonly asksOverStdio: boolean;
  /** Where teammates run. */
  readonly teammateMode: TeammateMode | undefined;
  readonly session: SessionFields;
}

type TeammateMode = NonNullable<Extract<TeamRole, { readonly kind: 'lead' }>['way']>;

export type SessionFields = Omit<SessionConfig, 'cwd' | 'env' | 'entrypoint' | 'emit' | 'asker'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function readOptions(args: ParsedArgs): Result<CliOptions, string> {
  const one = (name: string): string | undefined => args.values.get(name)?.at(-1);
  const has = (name: string): boolean => args.switches.has(name);
  try {
    const outputFormat = (one('output-format') ?? 'text') as OutputFormat;
    const streamInput = one('input-format') === 'stream-json';
    const print = has('print') || streamInput || has('init-only');
    refuse(
      outputFormat === 'stream-json' && print && !has('verbose'),
      '--output-format stream-json needs --verbose when printing: the stream is every message',
    );
    refuse(
      streamInput && outputFormat !== 'stream-json',
      '--input-format stream-json needs --output-format stream-json',
    );
    refuse(
      has('continue') && args.values.has('resume'),
      '--continue and --resume exclude each other',
    );
    const asTeammate = ['agent-name', 'agent-id', 'parent-session-id'].find((name) =>
      args.values.has(name),
    );
    // fail-closed: half of what makes a teammate makes none.
    refuse(
      (asTeammate !== undefined || has('plan-mode-required')) && !args.values.has('team-name'),
      `--${asTeammate ?? 'plan-mode-required'} needs --team-name`,
    );
    const words = [...args.positionals, ...(args.rest ?? [])];
    refuse(
      !print && args.positionals.length > 0,
      `to send a prompt, use: portcullis -p ${JSON.stringify(words.join(' '))}`,
    );
    const promptTool = one('permission-prompt-tool');
    const asksTool = promptTool !== undefined && promptTool !== 'stdio';
    refuse(
      asksTool && !/^mcp__.+__.+$/.test(promptTool),
      `--permission-prompt-tool ${promptTool}: neither stdio nor the name of an MCP tool (mcp__server__tool)`,
    );
    const asksNobody = one('permission-prompts') === 'none';
    refuse(asksTool && !print, '--permission-prompt-tool needs -p: here you are asked yourself');
    return ok({
      print,
      outputFormat,
      streamInput,
      rewindFiles: rewindOf(args),
      partialMessages: has('include-partial-messages'),
      replayPrompts: has('replay-user-messages'),
      decisions: has('include-decisions'),
      hookEvents: has('include-hook-events'),
      agentTexts: has('forward-subagent-text'),
      awaitsInitialize: has('await-initialize'),
      initOnly: has('init-only'),
      verbose: has('verbose'),
      debug: has('debug-to-stderr') || args.values.has('debug'),
      debugFile: one('debug-file'),
      prompt: words.length === 0 ? undefined : words.join(' '),
      teammateMode: one('teammate-mode') as TeammateMode | undefined,
      asksOverStdio: promptTool === 'stdio' && !asksNobody,
      session: { ...sessionFields(args), ...(asksTool && !asksNobody ? { promptTool } : {}) },
    });
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

/** What `--bare` leaves where no tools are named. */
const BARE_TOOLS = ['Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Write'] as const;

function sessionFields(args: ParsedArgs): SessionFields {
  const one = (name: string): string | undefined => args.values.get(name)?.at(-1);
  const list = (name: string): readonly string[] => args.values.get(name) ?? [];
  const mode = permissionMode(args);
  const bare = args.switches.has('bare');
  return {
    model: one('model'),
    fallbackModels: (one('fallback-model') ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    effort: one('effort'),
    thinking: one('thinking') as SessionFields['thinking'],
    maxThinkingTokens: wholeNumber('max-thinking-tokens', one('max-thinking-tokens'), 0),
    thinkingDisplay: one('thinking-display') as SessionFields['thinkingDisplay'],
    betas: list('betas')
      .flatMap((value) => value.split(','))
      .filter((name) => name !== ''),
    maxTurns: wholeNumber('max-turns', one('max-turns'), 1),
    maxBudgetUsd: amount('max-budget-usd', one('max-budget-usd')),
    systemPrompt: textOrFile(args, 'system-prompt'),
    appendSystemPrompt: textOrFile(args, 'append-system-prompt'),
    addDirs: directories('add-dir', list('add-dir')),
    allowedTools: list('allowedTools'),
    disallowedTools: list('disallowedTools'),
    tools: args.values.has('tools') ? toolNames(list('tools')) : bare ? BARE_TOOLS : undefined,
    permissionMode: mode,
    bypassArmed:
      mode === 'bypassPermissions' || args.switches.has('allow-dangerously-skip-permissions'),
    settings: one('settings'),
    managedSettings: one('managed-settings'),
    settingSources: args.values.has('setting-sources')
      ? settingSources(list('setting-sources'))
      : bare
        ? []
        : undefined,
    jsonSchema: jsonSchema(one('json-schema')),
    mcpConfig: list('mcp-config'),
    strictMcpConfig: bare || args.switches.has('strict-mcp-config'),
    plugins: [
      ...list('plugin-dir').map((directory) => ({ directory })),
      ...list('plugin-dir-no-mcp').map((directory) => ({ directory, withoutServers: true })),
    ],
    agents: agentDefinitions(one('agents')),
    agent: one('agent'),
    start: sessionStart(args),
    fork: args.switches.has('fork-session'),
    title: one('name'),
    persist: !args.switches.has('no-session-persistence'),
    mirror: args.switches.has('session-mirror'),
    trust: args.switches.has('trust'),
    setup: setupTrigger(args),
    script: one('script'),
  };
}

function setupTrigger(args: ParsedArgs): SessionFields['setup'] {
  const init = args.switches.has('init') || args.switches.has('init-only');
  const maintenance = args.switches.has('maintenance');
  refuse(init && maintenance, '--init and --maintenance exclude each other');
  return init ? 'init' : maintenance ? 'maintenance' : undefined;
}

function permissionMode(args: ParsedArgs): PermissionMode | undefined {
  const given = args.values.get('permission-mode')?.at(-1);
  const skip = args.switches.has('dangerously-skip-permissions');
  refuse(
    skip && given !== undefined && given !== 'bypassPermissions',
    `--dangerously-skip-permissions contradicts --permission-mode ${given}`,
  );
  if (skip) return 'bypassPermissions';
  return given === 'manual' ? 'default' : (given as PermissionMode | undefined);
}

function sessionStart(args: ParsedArgs): SessionFields['start'] {
  const id = args.values.get('session-id')?.at(-1);
  refuse(id !== undefined && !UUID.test(id), `--session-id: "${id}" is not a UUID`);
  const at = args.values.get('resume-session-at')?.at(-1);
  const resume = args.values.get('resume')?.at(-1);
  const goesOn = args.switches.has('continue') || resume !== undefined;
  const fork = args.switches.has('fork-session');
  refuse(fork && !goesOn, '--fork-session needs --continue or --resume');
  refuse(
    goesOn && id !== undefined && !fork,
    '--session-id with --continue or --resume needs --fork-session: a session keeps its id',
  );
  refuse(
    at !== undefined && (resume ?? '') === '',
    '--resume-session-at needs --resume with an id',
  );
  const dropsTurn = args.values.get('resume-drops-turn')?.at(-1);
  refuse(
    dropsTurn !== undefined && at === undefined,
    '--resume-drops-turn needs --resume-session-at',
  );
  if (args.switches.has('continue')) return { kind: 'continue', newId: id };
  if (resume === '') return { kind: 'continue', newId: id };
  if (resume !== undefined) return { kind: 'resume', id: resume, newId: id, at, dropsTurn };
  return { kind: 'new', id };
}

function rewindOf(args: ParsedArgs): CliOptions['rewindFiles'] {
  const messageId = args.values.get('rewind-files')?.at(-1);
  const sessionId = args.values.get('resume')?.at(-1) ?? '';
  if (messageId === undefined) return undefined;
  refuse(sessionId === '', '--rewind-files needs --resume with an id');
  return { sessionId, messageId };
}

function textOrFile(args: ParsedArgs, name: string): string | undefined {
  const text = args.values.get(name)?.at(-1);
  const file = args.values.get(`${name}-file`)?.at(-1);
  refuse(
    text !== undefined && file !== undefined,
    `--${name} and --${name}-file exclude each other`,
  );
  return file === undefined ? text : readFile(`${name}-file`, file);
}

function directories(name: string, given: readonly string[]): readonly string[] {
  const missing = given.find(
    (one) => statSync(one, { throwIfNoEntry: false })?.isDirectory() !== true,
  );
  refuse(missing !== undefined, `--${name}: "${missing}" is not a directory`);
  return given;
}

function toolNames(values: readonly string[]): readonly string[] | undefined {
  const names = values.flatMap((value) => value.split(/[\s,]+/)).filter((name) => name !== '');
  return names.includes('default') ? undefined : names;
}

function settingSources(values: readonly string[]): readonly ('user' | 'project' | 'local')[] {
  return values
    .flatMap((value) => value.split(','))
    .filter((name) => name !== '')
    .map((name) => {
      if (name === 'user' || name === 'project' || name === 'local') return name;
      throw new Error(`--setting-sources: "${name}" is not one of user, project, local`);
    });
}

function jsonSchema(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const source = inlineOrFile('json-schema', text);
  const parsed = parseJson(source);
  if (!parsed.ok) throw new Error(`--json-schema is not valid JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) throw new Error('--json-schema must be a JSON object');
  return parsed.value;
}

function agentDefinitions(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const source = inlineOrFile('agents', text);
  const parsed = parseJson(source);
  if (!parsed.ok) throw new Error(`--agents is not valid JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) throw new Error('--agents must be {"name": {…}}');
  return parsed.value;
}

function inlineOrFile(name: string, text: string): string {
  return text.trimStart().startsWith('{') ? text : readFile(name, text, ' (JSON begins with "{")');
}

function readFile(name: string, file: string, note = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const why = systemCodeOf(thrown) === 'ENOENT' ? 'there is no such file' : messageOf(thrown);
    throw new Error(`--${name}: "${file}" cannot be read: ${why}${note}`);
  }
}

function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  // fail-closed: only what people read as the same number; `0x10` and `1e3` are other ones to some.
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  refuse(
    !Number.isSafeInteger(value) || value < least,
    `--${name}: "${text}" is not a whole number of at least ${least}, written in digits`,
  );
  return value;
}

function amount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  refuse(
    !Number.isFinite(value) || value <= 0,
    `--${name}: "${text}" is not an amount above 0, written in digits such as 5 or 0.50`,
  );
  return value;
}

function refuse(condition: boolean, message: string): void {
  if (condition) throw new Error(message);
}
