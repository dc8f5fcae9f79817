/**
 * Hooks with `"persistent": true`: one child answers many questions, so that a question costs a
 * fraction of a millisecond instead of a program start.
 *
 * The child is started at the first question, in the project's directory, and is spoken to by lines of
 * JSON in UTF-8. Each question is one line on its standard input,
 *
 *     {"id": 7, "input": {…the hook's input, as other command hooks read it…}}
 *
 * and each answer one line on its standard output, in any order:
 *
 *     {"id": 7, "output": {…what other command hooks would print…}}
 *     {"id": 7, "output": null}            no opinion
 *     {"id": 7, "error": "what went wrong"}
 *
 * Standard error is free for messages. What a line means that is no such answer:
 *
 * | line | meaning |
 * |---|---|
 * | JSON, but no question of this id is open | a late answer: passed over and logged |
 * | JSON, but no object | noise: counted and logged |
 * | no JSON, and a question is open | every open question failed; the child is started afresh |
 * | no JSON, and no question is open | noise |
 * | a key stands twice, and a question is open | as no JSON |
 * | a verdict beside `output` | that question failed |
 *
 * A child that does not answer in time is ended and started afresh with the next question, unless it has
 * answered others meanwhile and more are open: then only that question failed. A child that ended is
 * started afresh too; after three ends within ten seconds nobody is asked for ten seconds. When the
 * session ends, its standard input is closed; a child that is still there 200 ms later is ended.
 */
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { CommandHandler, HookRaw, HookRequest } from '../registry/hook.js';
import { type CommandContext, createCommandLauncher } from './launch.js';
import { PersistentChild, SESSION_ENDED } from './persistent-child.js';

export interface PersistentHooksDeps extends CommandContext {
  readonly processes: Pick<ProcessSupervisor, 'open'>;
  /** Told of lines that are no answers. */
  readonly log?: (text: string) => void;
  /** Milliseconds from any start. Default: the system's. */
  readonly monotonic?: () => number;
}

export interface PersistentHooks {
  /** Asks the child of this handler, which is started when there is none. Never throws. */
  ask(handler: CommandHandler, request: HookRequest): Promise<HookRaw>;
  /** Ends all children. Open questions fail, later ones too. */
  close(): Promise<void>;
}

export function createPersistentHooks(deps: PersistentHooksDeps): PersistentHooks {
  const launcher = createCommandLauncher(deps);
  const children = new Map<string, PersistentChild>();
  let isClosed = false;

  const childFor = (handler: CommandHandler): PersistentChild => {
    const key = keyOf(handler);
    let child = children.get(key);
    if (child === undefined) {
      child = new PersistentChild({
        command: handler.command,
        cwd: deps.projectDir,
        launch: () => launcher(handler, { cwd: deps.projectDir }),
        processes: deps.processes,
        log: deps.log ?? (() => {}),
        monotonic: deps.monotonic ?? (() => performance.now()),
      });
      children.set(key, child);
    }
    return child;
  };

  return {
    ask: (handler, request) => {
      if (!isClosed) return childFor(handler).ask(request);
      return Promise.resolve({ kind: 'failed', failure: SESSION_ENDED });
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...children.values()].map((child) => child.close()));
    },
  };
}

function keyOf(handler: CommandHandler): string {
  const { command, args = null, shell = null, allowedEnvVars = [], plugin = null } = handler;
  return JSON.stringify([command, args, shell, allowedEnvVars, plugin]);
}
