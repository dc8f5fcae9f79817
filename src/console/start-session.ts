import { type ChildProcess, spawn } from 'node:child_process';
import { PortcullisError } from '../errors.js';
import { stateDirectory } from '../platform/fs/paths.js';
import { randomUuid } from '../platform/random.js';
import { listLive } from './live-files.js';

export interface NewSession {
  readonly cwd: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
}

const OPEN_MS = 20_000;
const LOOK_MS = 50;

/** Sessions that this console started, each a process of its own. They end with the console. */
export class StartedSessions {
  readonly #env: Readonly<Record<string, string | undefined>>;
  /** The program and its first arguments. */
  readonly #program: readonly string[];
  readonly #running = new Set<ChildProcess>();

  constructor(env: Readonly<Record<string, string | undefined>>, program: readonly string[]) {
    this.#env = env;
    this.#program = program;
  }

  /** Resolves to the id of the session once it can be joined. */
  async start({ cwd, prompt, model, mode }: NewSession): Promise<{ readonly sessionId: string }> {
    const [command, ...first] = this.#program;
    if (command === undefined) {
      throw new PortcullisError('usage', 'this console cannot start sessions', {
        remedy: 'start one in a terminal; it appears here',
      });
    }
    const sessionId = randomUuid();
    const args = [
      ...first,
      '--print',
      '--verbose',
      '--input-format=stream-json',
      '--output-format=stream-json',
      '--permission-prompt-tool=stdio',
      `--session-id=${sessionId}`,
      ...(model === undefined || model === '' ? [] : [`--model=${model}`]),
      ...(mode === undefined || mode === '' ? [] : [`--permission-mode=${mode}`]),
    ];
    const env = { ...this.#env, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' };
    const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'ignore', 'pipe'] });
    this.#running.add(child);
    let complaint = '';
    child.stderr?.on('data', (data: Buffer) => {
      complaint = `${complaint}${data}`.slice(-2_000);
    });
    child.once('close', () => this.#running.delete(child));
    const message = {
      type: 'user',
      message: { role: 'user', content: prompt },
      parent_tool_use_id: null,
      session_id: '',
    };
    // Writing to a child that has ended fails; it has written the reason to standard error.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(`${JSON.stringify(message)}\n`);
    await this.#opened(child, sessionId, () => complaint.trim());
    return { sessionId };
  }

  /** Waits until the session can be joined. Rejects with the program's error output where it ends before. */
  async #opened(child: ChildProcess, sessionId: string, complaint: () => string): Promise<void> {
    let failure: string | undefined;
    child.once('error', (error) => {
      failure = error.message;
    });
    child.once('close', (code) => {
      failure ??= complaint() || `the program ended with code ${code}`;
    });
    for (let waited = 0; waited < OPEN_MS; waited += LOOK_MS) {
      if (failure !== undefined) throw new PortcullisError('session', failure);
      const live = listLive(stateDirectory(this.#env));
      if (live.some((one) => one.sessionId === sessionId)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new PortcullisError('session', 'the session did not open in time', {
      remedy: 'start it in a terminal to see why',
    });
  }

  /** Ends the input of the sessions, which end after their running turn. */
  close(): void {
    for (const child of this.#running) child.stdin?.end();
  }
}
