import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { ProcessResult, ProcessSupervisor } from '../../platform/process/process.js';
import { cannotStart } from '../answers/report-step.js';
import { calledOff } from '../dispatch/timeout.js';
import type {
  CommandHandler,
  Hook,
  HookFailure,
  HookRaw,
  HookRequest,
  HookRunner,
} from '../registry/hook.js';
import { type CommandContext, type CommandLaunch, createCommandLauncher } from './launch.js';
import type { PersistentHooks } from './persistent.js';

export interface CommandRunnerDeps extends CommandContext {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  /** Answers for handlers with `persistent: true`. */
  readonly persistent: PersistentHooks;
  /**
   * A file that the hook stands for and that is not as it was when people accepted the hook;
   * undefined: there is none. Absent: nobody had to accept the hooks that are run here.
   */
  changedScript?(hook: Hook<CommandHandler>): Promise<string | undefined>;
}

const STDOUT_BYTES = 1024 * 1024;
const STDERR_BYTES = 64 * 1024;
/** A hook that writes more than this is not going to say anything sensible. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Between the polite signal and the final one. Short: somebody waits for the verdict. */
const GRACE_MS = 250;

/**
 * Runs command hooks: one process a question, which reads the input as JSON and answers by what it
 * prints and how it ends.
 */
export function createCommandRunner(deps: CommandRunnerDeps): HookRunner<CommandHandler> {
  const launcher = createCommandLauncher(deps);
  return async (hook, request) => {
    const { handler } = hook;
    // fail-closed: a throw is a failure of the hook as well, so a guard that nobody can vouch for refuses.
    const changed = await deps.changedScript?.(hook);
    if (changed !== undefined) return { kind: 'failed', failure: notAccepted(changed) };
    if (handler.persistent) return deps.persistent.ask(handler, request);
    let program = handler.command;
    const runIn = async (cwd: string): Promise<ProcessResult | HookFailure> => {
      const launch = launcher(handler, { cwd, envFile: request.envFile });
      if (!launch.ok) return { cause: 'cannot-start', message: launch.error };
      program = launch.value.command;
      return deps.processes.run(spawnRequest({ hook, request, launch: launch.value, cwd }));
    };
    let result = await runIn(request.cwd);
    let note = '';
    if ('startErrorKind' in result && result.startErrorKind === 'directory') {
      note = `${result.startError} The hook ran in ${deps.projectDir}.\n`;
      result = await runIn(deps.projectDir);
    }
    return rawOf(result, { program, request, note });
  };
}

function notAccepted(file: string): HookFailure {
  const message = `${visible(file)} has changed since the hook was accepted, so it is not run. \`portcullis trust\` shows and accepts what is there now`;
  return { cause: 'cannot-start', message };
}

function spawnRequest(parts: {
  readonly hook: Hook<CommandHandler>;
  readonly request: HookRequest;
  readonly launch: CommandLaunch;
  readonly cwd: string;
}): Parameters<ProcessSupervisor['run']>[0] {
  const { hook, request, launch, cwd } = parts;
  return {
    ...launch,
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
    label: `hook ${hook.event}: ${sliceWhole(hook.handler.command, 0, 80)}`,
  };
}

/** What a program may have printed before it was ended is no answer. */
function rawOf(
  result: ProcessResult | HookFailure,
  run: { readonly program: string; readonly request: HookRequest; readonly note: string },
): HookRaw {
  if ('cause' in result) return { kind: 'failed', failure: result };
  const { exitCode, signal, stdout, stderr, fenced } = result;
  const failure = failureOf(result, run);
  if (failure !== undefined) return { kind: 'failed', failure, printed: stdout || undefined };
  return {
    kind: 'process',
    exitCode,
    signal,
    stdout,
    stderr: run.note + stderr + (fenced === undefined ? '' : `\n${fenced}`),
    ...(result.stdoutTruncated && { cut: true }),
  };
}

function failureOf(
  result: ProcessResult,
  { program, request }: { readonly program: string; readonly request: HookRequest },
): HookFailure | undefined {
  const { startError, startErrorKind } = result;
  if (startError !== undefined) {
    return startErrorKind === 'program-missing'
      ? cannotStart(startError, { program, kind: 'missing' })
      : { cause: 'cannot-start', message: startError };
  }
  // fail-closed: an answer that was cut off by the deadline is none, whatever it looks like.
  if (result.aborted) return calledOff(request);
  if (!result.outputLimitHit) return undefined;
  const megabytes = MAX_TOTAL_BYTES / 1024 / 1024;
  return { cause: 'broken-output', message: `it wrote more than ${megabytes} MB` };
}
