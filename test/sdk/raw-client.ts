import { type ChildProcess, spawn } from 'node:child_process';
import { parseJson } from '../../src/lib/json.js';
import { isRecord } from '../../src/lib/own.js';
import { PROGRAM } from './official.js';
import type { Frame } from './suite/play.js';

export interface RawOptions {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Answers a request of the program. Undefined: it gets no answer. */
  readonly answer?: (request: Frame) => unknown;
}

/** A client without a library: lines in, lines out, and nothing that is tidied up in between. */
export class RawClient {
  readonly frames: Frame[] = [];
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  readonly #answer: (request: Frame) => unknown;
  #stderr = '';
  #rest = '';
  #count = 0;
  #wake: (() => void)[] = [];
  #over = false;

  constructor(options: RawOptions) {
    this.#answer = options.answer ?? (() => undefined);
    this.#child = spawn(PROGRAM, options.argv, {
      cwd: options.cwd,
      env: options.env,
      stdio: 'pipe',
    });
    this.#child.stdin?.on('error', () => {
      // The program may leave before it has read everything; its exit code tells.
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr += chunk;
    });
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), 50_000);
    this.#exit = new Promise((resolve) => {
      this.#child.on('close', (code) => {
        clearTimeout(deadline);
        this.#over = true;
        this.#notify();
        resolve(code);
      });
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  send(message: unknown): void {
    this.sendLine(JSON.stringify(message));
  }

  sendLine(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Sends a control request and gives what came back, success or error. */
  async request(body: object): Promise<Frame> {
    const id = `req_${++this.#count}_raw`;
    this.send({ type: 'control_request', request_id: id, request: body });
    const frame = await this.next((candidate) => responseTo(candidate) === id);
    return isRecord(frame.response) ? frame.response : {};
  }

  /** The first frame, of all that came and will come, for which it holds. */
  async next(holds: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(holds);
      if (found !== undefined) return found;
      if (this.#over) throw new Error(`the program ended before: ${holds}\n${this.#stderr}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** The n-th result, counted from one. */
  async result(count = 1): Promise<Frame> {
    await this.next(() => this.results().length >= count);
    return this.results()[count - 1] ?? {};
  }

  results(): readonly Frame[] {
    return this.frames.filter((frame) => frame.type === 'result');
  }

  /** No more input; the exit code. */
  async end(): Promise<number | null> {
    this.#child.stdin?.end();
    return await this.#exit;
  }

  /** The exit code, with the input left open. */
  get exit(): Promise<number | null> {
    return this.#exit;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = parseJson(line);
      if (!parsed.ok || !isRecord(parsed.value)) throw new Error(`no frame: ${line.slice(0, 200)}`);
      // Sent only to see whether somebody is there; client libraries pass over it too.
      if (parsed.value.type === 'keep_alive') continue;
      this.frames.push(parsed.value);
      if (parsed.value.type === 'control_request') void this.#respond(parsed.value);
    }
    this.#notify();
  }

  async #respond(frame: Frame): Promise<void> {
    const respond = (response: object): void =>
      this.send({
        type: 'control_response',
        response: { ...response, request_id: frame.request_id },
      });
    try {
      const made = await this.#answer(isRecord(frame.request) ? frame.request : {});
      if (made !== undefined) respond({ subtype: 'success', response: made });
    } catch (thrown) {
      respond({ subtype: 'error', error: thrown instanceof Error ? thrown.message : 'failed' });
    }
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function responseTo(frame: Frame): unknown {
  return frame.type === 'control_response' && isRecord(frame.response)
    ? frame.response.request_id
    : undefined;
}
