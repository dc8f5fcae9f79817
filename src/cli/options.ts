import { readFileSync, statSync } from 'node:fs';
import { type OptionName, readSessionOptions, type SessionFields, type TeamRole } from '../app.js';
import { messageOf, PortcullisError, systemCodeOf } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { err, ok, type Result } from '../lib/result.js';
import type { ParsedArgs } from './args.js';

export type { SessionFields } from '../app.js';
export type OutputFormat = 'text' | 'json' | 'stream-json';

/** What the command line asks for: how to talk to the outside, and the session to open. */
export interface CliOptions {
  readonly print: boolean;
  readonly outputFormat: OutputFormat;
  readonly streamInput: boolean;
  /** Files are restored to their state before this message; then the program exits. */
  readonly rewindFiles?: { readonly sessionId: string; readonly messageId: string } | undefined;
  readonly partialMessages: boolean;
  readonly replayPrompts: boolean;
  readonly decisions: boolean;
  readonly verbose: boolean;
  /** Send what agents say, and not only what they do. */
  readonly agentTexts: boolean;
  /** Send the start and end of every hook. */
  readonly hookEvents: boolean;
  /** Prompts wait until the program that drives the session has initialised it. */
  readonly awaitsInitialize: boolean;
  /** Run the hooks of the start, then exit. */
  readonly initOnly: boolean;
  readonly debug: boolean;
  readonly debugFile: string | undefined;
  readonly prompt: string | undefined;
  /** Lines instead of the terminal interface. */
  readonly plain: boolean;
  /** Questions go over the control channel. */
  readonly asksOverStdio: boolean;
  readonly teammateMode: TeammateMode | undefined;
  readonly session: SessionFields;
}

type TeammateMode = NonNullable<Extract<TeamRole, { readonly kind: 'lead' }>['way']>;

/** What is wrong where flags cannot be read or contradict each other. */
export function readOptions(args: ParsedArgs): Result<CliOptions, string> {
  try {
    return ok(optionsOf(args));
  } catch (thrown) {
    if (thrown instanceof PortcullisError) return err(thrown.message);
    throw thrown;
  }
}

function optionsOf(args: ParsedArgs): CliOptions {
  const one = (name: string): string | undefined => args.values.get(name)?.at(-1);
  const has = (name: string): boolean => args.switches.has(name);
  const outputFormat = (one('output-format') ?? 'text') as OutputFormat;
  const streamInput = one('input-format') === 'stream-json';
  const print = has('print') || streamInput || has('init-only');
  const promptTool = one('permission-prompt-tool');
  const asksTool = promptTool !== undefined && promptTool !== 'stdio';
  const asMate = ['agent-name', 'agent-id', 'parent-session-id'].find((name) => one(name));
  const isMate = asMate !== undefined || has('plan-mode-required');
  const messageId = one('rewind-files');
  const sessionId = one('resume') ?? '';
  refuse(
    outputFormat === 'stream-json' && print && !has('verbose'),
    '--output-format stream-json needs --verbose when printing: the stream is every message',
  );
  refuse(
    streamInput && outputFormat !== 'stream-json',
    '--input-format stream-json needs --output-format stream-json',
  );
  // fail-closed: half of what makes a teammate makes none.
  refuse(
    isMate && one('team-name') === undefined,
    `--${asMate ?? 'plan-mode-required'} needs --team-name`,
  );
  refuse(asksTool && !print, '--permission-prompt-tool needs -p: here you are asked yourself');
  refuse(messageId !== undefined && sessionId === '', '--rewind-files needs --resume with an id');
  refuse(
    (has('init') || has('init-only')) && has('maintenance'),
    '--init and --maintenance exclude each other',
  );
  const asksNobody = one('permission-prompts') === 'none';
  const words = [...args.positionals, ...(args.rest ?? [])];
  return {
    print,
    outputFormat,
    streamInput,
    rewindFiles: messageId === undefined ? undefined : { sessionId, messageId },
    partialMessages: has('include-partial-messages'),
    replayPrompts: has('replay-user-messages'),
    decisions: has('include-decisions'),
    hookEvents: has('include-hook-events'),
    agentTexts: has('forward-subagent-text'),
    awaitsInitialize: has('await-initialize'),
    initOnly: has('init-only'),
    verbose: has('verbose'),
    plain: has('plain'),
    debug: has('debug-to-stderr') || args.values.has('debug'),
    debugFile: one('debug-file'),
    prompt: words.length === 0 ? undefined : words.join(' '),
    teammateMode: one('teammate-mode') as TeammateMode | undefined,
    asksOverStdio: promptTool === 'stdio' && !asksNobody,
    session: sessionFields(args, asksTool && !asksNobody ? promptTool : undefined),
  };
}

/** What `--bare` leaves where no tools are named. */
const BARE_TOOLS = ['Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Write'];

function sessionFields(args: ParsedArgs, promptTool: string | undefined): SessionFields {
  const one = (name: string): string | undefined => args.values.get(name)?.at(-1);
  const has = (name: string): boolean => args.switches.has(name);
  const list = (name: string): readonly string[] => args.values.get(name) ?? [];
  const split = (name: string, by: RegExp): string[] | undefined =>
    args.values.get(name)?.flatMap((value) => value.split(by).filter((part) => part !== ''));
  const tools = split('tools', /[\s,]+/) ?? (has('bare') ? BARE_TOOLS : undefined);
  const plugins = (name: string, skipMcpDiscovery: boolean) =>
    list(name).map((path) => ({ type: 'local', path, skipMcpDiscovery }));
  const read = readSessionOptions(
    {
      model: one('model'),
      fallbackModel: one('fallback-model'),
      effort: one('effort'),
      thinking: one('thinking'),
      thinkingDisplay: one('thinking-display'),
      maxThinkingTokens: numberOf(one('max-thinking-tokens'), /^\d+$/),
      betas: split('betas', /,/),
      maxTurns: numberOf(one('max-turns'), /^\d+$/),
      maxBudgetUsd: numberOf(one('max-budget-usd'), /^(?:\d+(?:\.\d+)?|\.\d+)$/),
      systemPrompt: textOrFile(args, 'system-prompt'),
      appendSystemPrompt: textOrFile(args, 'append-system-prompt'),
      additionalDirectories: directories('add-dir', list('add-dir')),
      tools: tools?.includes('default') === true ? undefined : tools,
      allowedTools: list('allowedTools'),
      disallowedTools: list('disallowedTools'),
      permissionMode: one('permission-mode'),
      dangerouslySkipPermissions: has('dangerously-skip-permissions'),
      allowDangerouslySkipPermissions: has('allow-dangerously-skip-permissions'),
      permissionPromptToolName: promptTool,
      settings: one('settings'),
      managedSettings: one('managed-settings'),
      settingSources: split('setting-sources', /,/) ?? (has('bare') ? [] : undefined),
      jsonSchema: jsonOf(one('json-schema'), 'json-schema'),
      strictMcpConfig: has('bare') || has('strict-mcp-config'),
      plugins: [...plugins('plugin-dir', false), ...plugins('plugin-dir-no-mcp', true)],
      agents: jsonOf(one('agents'), 'agents'),
      agent: one('agent'),
      sessionId: one('session-id'),
      continue: has('continue'),
      resume: one('resume'),
      forkSession: has('fork-session'),
      resumeSessionAt: one('resume-session-at'),
      resumeDropsTurn: one('resume-drops-turn'),
      title: one('name'),
      persistSession: !has('no-session-persistence'),
      trustProject: has('trust'),
      script: one('script'),
    },
    flagOf,
  );
  if (!read.ok) throw usageError(read.error);
  return {
    ...read.value,
    mcpConfig: list('mcp-config'),
    mirror: has('session-mirror'),
    ...(has('maintenance') && { setup: 'maintenance' }),
    ...((has('init') || has('init-only')) && { setup: 'init' }),
  };
}

/** The flags whose name is not that of the option in kebab case. */
const RENAMED: Partial<Record<OptionName, string>> = {
  additionalDirectories: 'add-dir',
  allowedTools: 'allowedTools',
  disallowedTools: 'disallowedTools',
  permissionPromptToolName: 'permission-prompt-tool',
  plugins: 'plugin-dir',
  title: 'name',
};

function flagOf(option: OptionName): string {
  const kebab = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `--${RENAMED[option] ?? kebab}`;
}

/** fail-closed: only what people read as the same number; `0x10` and `1e3` stay texts, which are refused. */
function numberOf(text: string | undefined, form: RegExp): number | string | undefined {
  return text !== undefined && form.test(text) ? Number(text) : text;
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

/** JSON text, or the content of a file. */
function jsonOf(given: string | undefined, name: string): unknown {
  if (given === undefined) return undefined;
  const isText = given.trimStart().startsWith('{');
  const parsed = parseJson(isText ? given : readFile(name, given, ' (JSON begins with "{")'));
  if (!parsed.ok) throw usageError(`--${name} is not valid JSON: ${parsed.error}`);
  return parsed.value;
}

function readFile(name: string, file: string, note = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const why = systemCodeOf(thrown) === 'ENOENT' ? 'there is no such file' : messageOf(thrown);
    throw usageError(`--${name}: "${file}" cannot be read: ${why}${note}`);
  }
}

function refuse(condition: boolean, message: string): void {
  if (condition) throw usageError(message);
}

/** A command line that cannot be understood; nothing was started. */
export function usageError(message: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy: 'portcullis --help lists the flags' });
}
