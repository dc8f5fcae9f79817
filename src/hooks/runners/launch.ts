import { err, ok, type Result } from '../../lib/result.js';
import { type Environment, ownProcessId, shellEnvironment } from '../../platform/environment.js';
import type { CommandHandler } from '../registry/hook.js';

/** What every command hook of a session starts from. */
export interface CommandContext {
  /** The program's own environment. */
  readonly env: Environment;
  /** The directory in which the session started, whatever the current one is. */
  readonly projectDir: string;
  readonly sessionId: () => string;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  /** How hard the model is asked to think, where that is known. */
  readonly effort?: string;
}

/** A program ready to be started. */
export interface CommandLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface LaunchPlace {
  readonly cwd: string;
  /** Absent: the event takes no variables. */
  readonly envFile?: string;
}

/** How a command hook is started. The error is one line: what stands in the way. */
export type CommandLauncher = (
  handler: CommandHandler,
  place: LaunchPlace,
) => Result<CommandLaunch, string>;

export function createCommandLauncher(context: CommandContext): CommandLauncher {
  return (handler, place) => {
    const base = baseEnvironment(context.env, handler.allowedEnvVars ?? []);
    const variables = ownVariables(context, place, handler.plugin);
    const program =
      handler.args === undefined
        ? ok(shellProgram(handler, context))
        : directProgram(handler.command, handler.args, variables);
    if (!program.ok) return program;
    const env = { ...base, ...variables, PWD: place.cwd };
    return ok({
      command: program.value.command,
      args: program.value.args,
      env: isGitBash(handler, context) ? gitBashEnvironment(env, PATH_VARIABLES) : env,
    });
  };
}

/** Placeholders of the direct form. What has no value here is an error and never an empty string. */
const PLACEHOLDERS = /\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}/g;

/** Variables of ours that hold one path. */
const PATH_VARIABLES: ReadonlySet<string> = new Set([
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_ENV_FILE',
]);

/** What we may have inherited from a program like us and what would be a lie here. */
const INHERITED = /^CLAUDE_(ENV_FILE|EFFORT|PID|PROJECT_DIR|PLUGIN_\w+)$/;

/** No grant reaches these: where telemetry goes, and with which keys, is no business of a hook. */
const NEVER = /^OTEL_/;

type Program = Omit<CommandLaunch, 'env'>;

function baseEnvironment(
  env: Environment,
  grants: readonly string[],
): Readonly<Record<string, string>> {
  const selected = shellEnvironment(env, { grants });
  return Object.fromEntries(
    Object.entries(selected).filter(([name]) => !INHERITED.test(name) && !NEVER.test(name)),
  );
}

function ownVariables(
  context: CommandContext,
  place: LaunchPlace,
  plugin: CommandHandler['plugin'],
): Record<string, string> {
  return {
    CLAUDE_PROJECT_DIR: context.projectDir,
    CLAUDE_CODE_SESSION_ID: context.sessionId(),
    CLAUDE_PID: String(ownProcessId()),
    ...(context.effort !== undefined && { CLAUDE_EFFORT: context.effort }),
    ...(place.envFile !== undefined && { CLAUDE_ENV_FILE: place.envFile }),
    ...(plugin !== undefined && {
      CLAUDE_PLUGIN_ROOT: plugin.root,
      CLAUDE_PLUGIN_DATA: plugin.data,
    }),
  };
}

/** The text goes to the shell as it stands: a path with `$( )` in its name is never part of the code. */
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
  command: string,
  args: readonly string[],
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

function isGitBash(handler: CommandHandler, context: CommandContext): boolean {
  return (
    context.platform === 'win32' && handler.args === undefined && handler.shell !== 'powershell'
  );
}

/** Git Bash translates `PATH` and arguments by itself, but not paths in other variables. */
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

/** The variables with those of the given names as Git Bash writes them. */
export function gitBashEnvironment(
  variables: Readonly<Record<string, string>>,
  names: ReadonlySet<string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      names.has(name) ? gitBashPath(value) : value,
    ]),
  );
}
