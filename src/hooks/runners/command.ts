import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { type Environment, ownProcessId, shellEnvironment } from '../../platform/environment.js';
import type { ProcessResult, ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { cannotStart } from '../answers/text.js';
import { calledOff, failed } from '../dispatch/timeout.js';
import type {
  CommandHandler,
  Hook,
  HookFailure,
  HookRaw,
  HookRequest,
  HookRunner,
} from '../registry/hook.js';

/** What every command hook of a session starts from. */
export interface CommandContext {
  /** The program's own environment. */
  readonly env: Environment;
  /** The directory in which the session started, whatever the current one is. */
  readonly projectDir: string;
  readonly sessionId: string;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** How hard the model is asked to think, where that is known. */
  readonly effort?: string;
}

interface CommandRunnerDeps extends CommandContext {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  /** Answers for handlers with `persistent: true`. */
  readonly persistent: {
    ask(handler: CommandHandler, request: HookRequest): Promise<HookRaw>;
  };
  /**
   * The first file behind the hook that changed since a person accepted it; undefined when none did. Absent:
   * the hooks that are run here need no acceptance.
   */
  changedScript?(hook: Hook<CommandHandler>): Promise<string | undefined>;
  /** A hook that may write is going to run; returns its end. */
  watch?(name: string, agent: AgentRef): Promise<() => void>;
}

const STDOUT_BYTES = 1024 * 1024;
const STDERR_BYTES = 64 * 1024;
/** A hook that writes more than this is not going to say anything sensible. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Between the polite signal and the final one. Short, because a call waits for the verdict. */
const GRACE_MS = 250;

/**
 * Runs command hooks: one process a question, which reads the input as JSON and answers by what it
 * prints and how it ends.
 */
export function createCommandRunner(deps: CommandRunnerDeps): HookRunner<CommandHandler> {
  return async (hook, request) => {
    const name = `${hook.event}: ${sliceWhole(hook.handler.command, 0, 80)}`;
    const ended = await deps.watch?.(name, request.agent);
    try {
      // fail-closed: a throw is a failure of the hook, so an unverified guard refuses.
      const changed = await deps.changedScript?.(hook);
      if (changed !== undefined) return failed('cannot-start', changedText(changed));
      if (hook.handler.persistent) return await deps.persistent.ask(hook.handler, request);
      return await runCommand(deps, hook, request);
    } finally {
      ended?.();
    }
  };
}

function changedText(file: string): string {
  return `${visible(file)} has changed since the hook was accepted, so it is not run. \`portcullis trust\` shows and accepts what is there now`;
}

async function runCommand(
  deps: CommandRunnerDeps,
  hook: Hook<CommandHandler>,
  request: HookRequest,
): Promise<HookRaw> {
  const { handler } = hook;
  const launch = commandLaunch(deps, handler, request);
  if (!launch.ok) return failed('cannot-start', launch.error);
  const { command, args, env } = launch.value;
  const runIn = (cwd: string): Promise<ProcessResult> =>
    deps.processes.run({
      command,
      args,
      env: { ...env, PWD: cwd },
      cwd,
      input: `${request.json}\n`,
      signal: request.signal,
      graceMs: GRACE_MS,
      // What a gate has decided is decided: nothing of it goes on. Others may play a sound or send a
      // message in the background, for as long as they were given.
      groupLifetimeMs: hook.role === 'gate' ? 0 : request.timeoutMs,
      maxOutputBytes: STDOUT_BYTES,
      maxStderrBytes: STDERR_BYTES,
      maxTotalBytes: MAX_TOTAL_BYTES,
      label: `hook ${hook.event}: ${sliceWhole(handler.command, 0, 80)}`,
    });
  const result = await runIn(request.cwd);
  if (result.startErrorKind !== 'directory') return rawOf(result, { program: command, request });
  const note = `${result.startError} The hook ran in ${deps.projectDir}.\n`;
  return rawOf(await runIn(deps.projectDir), { program: command, request, note });
}

function rawOf(
  result: ProcessResult,
  { program, request, note = '' }: { program: string; request: HookRequest; note?: string },
): HookRaw {
  const { exitCode, signal, stdout, stderr, fenced, startError, startErrorKind } = result;
  // What a program may have printed before it was ended is no answer.
  const fails = (failure: HookFailure): HookRaw => ({
    kind: 'failed',
    failure,
    printed: stdout || undefined,
  });
  if (startError !== undefined && startErrorKind === 'program-missing') {
    return fails(cannotStart(startError, { program, kind: 'missing' }));
  }
  if (startError !== undefined) return fails({ cause: 'cannot-start', message: startError });
  // fail-closed: an answer that was cut off by the deadline is none, whatever it looks like.
  if (result.aborted) return fails(calledOff(request));
  if (result.outputLimitHit) {
    const megabytes = MAX_TOTAL_BYTES / 1024 / 1024;
    return fails({ cause: 'broken-output', message: `it wrote more than ${megabytes} MB` });
  }
  return {
    kind: 'process',
    exitCode,
    signal,
    stdout,
    stderr: note + stderr + (fenced === undefined ? '' : `\n${fenced}`),
    ...(result.stdoutTruncated && { cut: true }),
  };
}

/** A program ready to be started. */
export interface CommandLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a command hook is started. The error is one line: what prevents it. */
export function commandLaunch(
  context: CommandContext,
  handler: CommandHandler,
  { cwd, envFile }: Pick<HookRequest, 'cwd' | 'envFile'>,
): Result<CommandLaunch, string> {
  const { plugin, allowedEnvVars: grants = [] } = handler;
  const isDirect = handler.args !== undefined;
  const isGitBash = context.platform === 'win32' && !isDirect && handler.shell !== 'powershell';
  // Git Bash translates `PATH` and arguments by itself, but not paths in other variables.
  const path = (text: string): string => (isGitBash ? gitBashPath(text) : text);
  const own: Record<string, string> = {
    CLAUDE_PROJECT_DIR: path(context.projectDir),
    CLAUDE_CODE_SESSION_ID: context.sessionId,
    CLAUDE_PID: String(ownProcessId()),
    PWD: cwd,
    ...(context.effort !== undefined && { CLAUDE_EFFORT: context.effort }),
    ...(envFile !== undefined && { CLAUDE_ENV_FILE: path(envFile) }),
    ...(plugin !== undefined && {
      CLAUDE_PLUGIN_ROOT: path(plugin.root),
      CLAUDE_PLUGIN_DATA: path(plugin.data),
    }),
  };
  const inherited = Object.entries(shellEnvironment(context.env, { grants })).filter(
    ([name]) => !INHERITED.test(name) && !NEVER.test(name),
  );
  const program = isDirect ? directProgram(handler, own) : ok(shellProgram(handler, context));
  if (!program.ok) return program;
  return ok({ ...program.value, env: { ...Object.fromEntries(inherited), ...own } });
}

/** Placeholders of the direct form. What has no value here is an error and never an empty string. */
const PLACEHOLDERS = /\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}/g;

/** What we may have inherited from a program like us and what would be a lie here. */
const INHERITED = /^CLAUDE_(ENV_FILE|EFFORT|PID|PROJECT_DIR|PLUGIN_\w+)$/;

/** No grant reaches these: where telemetry goes, and with which keys, is no business of a hook. */
const NEVER = /^OTEL_/;

type Program = Omit<CommandLaunch, 'env'>;

/** The text goes to the shell unchanged: a path with `$( )` in its name is never part of the code. */
function shellProgram(handler: CommandHandler, context: CommandContext): Program {
  const isWindows = context.platform === 'win32';
  const { command } = handler;
  if (handler.shell === 'powershell') {
    return {
      command: isWindows ? 'powershell' : 'pwsh',
      args: ['-NoProfile', '-NonInteractive', '-Command', command],
    };
  }
  if (handler.shell === 'bash' || isWindows) {
    return {
      command: (isWindows ? context.env.CLAUDE_CODE_GIT_BASH_PATH : undefined) || 'bash',
      args: ['--norc', '--noprofile', '-c', command],
    };
  }
  return { command: '/bin/sh', args: ['-c', command] };
}

function directProgram(
  { command, args = [] }: CommandHandler,
  variables: Readonly<Record<string, string>>,
): Result<Program, string> {
  let missing: string | undefined;
  const filled = [command, ...args].map((text) =>
    text.replace(PLACEHOLDERS, (placeholder, name: string) => {
      const value = variables[name];
      if (value === undefined) missing ??= placeholder;
      return value ?? '';
    }),
  );
  // fail-closed: a guard started with a part of its command missing is another program.
  if (missing !== undefined) {
    return err(`Cannot start ${command}: ${missing} has no value outside a plugin.`);
  }
  const [program = '', ...rest] = filled;
  return ok({ command: program, args: rest });
}

const DRIVE = /^([A-Za-z]):(?=[\\/]|$)/;

/** `C:\x\y` becomes `/c/x/y`. Relative paths only change their slashes; network paths are left alone. */
export function gitBashPath(path: string): string {
  if (path.startsWith('\\\\') || path.startsWith('//')) return path;
  const slashes = path.replaceAll('\\', '/');
  const drive = DRIVE.exec(path)?.[1];
  if (drive === undefined) return slashes;
  const rest = slashes.slice(2);
  return `/${drive.toLowerCase()}${rest === '/' ? '' : rest}`;
}
