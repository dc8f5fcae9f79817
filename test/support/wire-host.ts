import type { Scenario } from '../../src/testing/scenario.js';

export type Message = Readonly<Record<string, unknown>>;

export interface WireHost {
  /** What `initialize` carries. */
  readonly initialize?: Message;
  readonly prompts?: readonly string[];
  /** Answers `can_use_tool`; a throw is an error answer, undefined no answer at all. */
  readonly canUseTool?: (request: Message, host: HostEnd) => unknown;
  /** Answers `hook_callback`. */
  readonly callback?: (request: Message, host: HostEnd) => unknown;
  /** Sees every frame that is not a request to the host. */
  readonly onFrame?: (frame: Message, host: HostEnd) => void;
}

export interface HostEnd {
  /** Sends a control request and gives its id. */
  control(request: Message): string;
  /** The answer to a request of ours. */
  answered(id: string): Promise<Message>;
  send(message: unknown): void;
  /** Closes standard input. */
  end(): void;
}

export interface HostLog {
  /** Requests that the program made, in order. */
  readonly asked: Message[];
  readonly cancelled: string[];
  /** Answers to the host's own requests, by id. */
  readonly answers: Map<string, Message>;
  /** Everything that came, in order. */
  readonly frames: Message[];
}

/** A client at the other end of the wire: initialises, prompts, answers, and leaves after the last result. */
export function wireHost(host: WireHost): {
  log: HostLog;
  scenario: Pick<Scenario, 'stdin' | 'onStart'>;
} {
  const log: HostLog = { asked: [], cancelled: [], answers: new Map(), frames: [] };
  const prompts = [...(host.prompts ?? ['go'])];
  const onStart: Scenario['onStart'] = (run) => {
    let counter = 0;
    const waiting = new Map<string, (answer: Message) => void>();
    const end: HostEnd = {
      control(request) {
        const id = `host-${++counter}`;
        run.write({ type: 'control_request', request_id: id, request });
        return id;
      },
      answered(id) {
        const known = log.answers.get(id);
        if (known !== undefined) return Promise.resolve(known);
        return new Promise((resolve) => waiting.set(id, resolve));
      },
      send: (message) => run.write(message),
      end: () => run.end(),
    };
    const prompt = (): void => {
      const text = prompts.shift();
      if (text === undefined) end.end();
      else run.write({ type: 'user', message: { role: 'user', content: text } });
    };
    run.onLine((line) => {
      const frame = JSON.parse(line) as Message;
      log.frames.push(frame);
      if (frame.type === 'control_request') void answer(frame, run.write);
      else if (frame.type === 'control_cancel_request')
        log.cancelled.push(String(frame.request_id));
      else if (frame.type === 'control_response') {
        const response = frame.response as Message;
        log.answers.set(String(response.request_id), response);
        waiting.get(String(response.request_id))?.(response);
      }
      if (frame.type !== 'control_request') host.onFrame?.(frame, end);
      if (frame.type === 'result') prompt();
    });
    const answer = async (frame: Message, write: (value: unknown) => void): Promise<void> => {
      const request = frame.request as Message;
      log.asked.push(request);
      const respond = (response: Message): void =>
        write({
          type: 'control_response',
          response: { request_id: frame.request_id, ...response },
        });
      try {
        const made =
          request.subtype === 'hook_callback'
            ? await host.callback?.(request, end)
            : await host.canUseTool?.(request, end);
        if (made !== undefined) respond({ subtype: 'success', response: made });
      } catch (thrown) {
        respond({ subtype: 'error', error: thrown instanceof Error ? thrown.message : 'failed' });
      }
    };
    end.control({ subtype: 'initialize', ...host.initialize });
    prompt();
  };
  return { log, scenario: { stdin: [], onStart } };
}
