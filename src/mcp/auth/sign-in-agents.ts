import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type Environment, shellEnvironment } from '../../platform/environment.js';
import { CALLBACK_PATH, listenForCallback } from '../../platform/http/loopback-callback.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { SignInAgent } from './types.js';

/** Where nothing listens and nothing has to: the person copies the address from the browser. */
const PASTE_PORT = 33418;
const MOST_TRIES = 3;

/** Opens the page in a browser on this machine, which brings the answer back by itself. */
export function browserAgent(options: {
  /** Absent: any that is free. */
  readonly port?: number | undefined;
  /** Tells the person where to go, in case no browser opens. */
  readonly tell: (url: string) => void;
  /** False when that did not work. */
  readonly open: (url: string) => Promise<boolean>;
}): SignInAgent {
  return {
    async begin() {
      const callback = await listenForCallback(options.port);
      if (!callback.ok) return callback;
      const { redirectUrl, answer, close } = callback.value;
      return ok({
        redirectUrl,
        close,
        async visit({ url, state }, signal) {
          const answered = answer(state, signal);
          options.tell(url);
          // Without a browser the person still has the address.
          await options.open(url);
          return await answered;
        },
      });
    },
  };
}

/** For machines without a browser: the person goes to the page elsewhere and pastes where it led. */
export function pasteAgent(options: {
  readonly port?: number | undefined;
  readonly tell: (url: string) => void;
  /** Says what was wrong before the next try. */
  readonly complain: (reason: string) => void;
  /** Undefined at the end of input. */
  readonly nextLine: (signal: AbortSignal) => Promise<string | undefined>;
  /** Nothing more is read. */
  readonly finished?: () => void;
}): SignInAgent {
  return {
    begin: async () =>
      ok({
        redirectUrl: `http://localhost:${options.port ?? PASTE_PORT}${CALLBACK_PATH}`,
        close: async () => options.finished?.(),
        async visit({ url, state }, signal) {
          options.tell(url);
          for (let tries = 1; ; tries++) {
            const line = await options.nextLine(signal);
            if (line === undefined) return err('nothing was pasted');
            const answer = answerFromPaste(line, state);
            if (answer.ok || tries === MOST_TRIES) return answer;
            options.complain(answer.error);
          }
        },
      }),
  };
}

const MAX_PASTED = 16 * 1024;

/**
 * What a person pasted after signing in: the whole address of the page they ended on, its query, or the
 * code alone. A bare code carries no state, so it is the person who vouches for it.
 */
export function answerFromPaste(pasted: string, state: string): Result<URLSearchParams, string> {
  const text = pasted.trim();
  if (text === '') return err('nothing was pasted');
  if (text.length > MAX_PASTED) return err('what was pasted is too long');
  if (/^https?:\/\//i.test(text)) {
    if (parseUrl(text) === undefined) return err('what was pasted is no address');
    return withState(new URL(text).searchParams, state);
  }
  if (/(^|[?&])(code|error)=/.test(text)) {
    return withState(new URLSearchParams(text.replace(/^[^?]*\?/, '')), state);
  }
  if (/\s/.test(text)) return err('what was pasted is neither an address nor a code');
  return ok(new URLSearchParams({ code: text, state }));
}

/** fail-closed: an answer to a question that was not asked here is not taken. */
function withState(answer: URLSearchParams, state: string): Result<URLSearchParams, string> {
  return answer.get('state') === state
    ? ok(answer)
    : err('the answer belongs to another sign-in (its state does not match)');
}

/** The programs that show an address in a person's browser, by system. Each takes it as one argument. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['/usr/bin/open'],
  // Not `start`: that is a word of the shell, and `&` in an address would end it.
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
};

/** How long the program may take to hand the address over. */
const TIMEOUT_MS = 10_000;

/** Shows a page. Never through a shell, and nothing but web pages. False when that did not work. */
export async function openBrowser(
  url: string,
  deps: {
    readonly processes: Pick<ProcessSupervisor, 'run'>;
    readonly env: Environment;
    readonly cwd: string;
    readonly platform: string;
  },
): Promise<boolean> {
  // fail-closed: another scheme would start another program.
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? '')) return false;
  const [command = 'xdg-open', ...args] = OPENERS[deps.platform] ?? ['xdg-open'];
  const result = await deps.processes.run({
    command,
    // Written anew: no blank, quote or control character is left in it.
    args: [...args, new URL(url).href],
    cwd: deps.cwd,
    env: shellEnvironment(deps.env),
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 4096,
    label: 'browser for signing in',
  });
  return result.exitCode === 0;
}
