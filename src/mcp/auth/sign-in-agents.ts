import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { type Environment, shellEnvironment } from '../../platform/environment.js';
import { CALLBACK_PATH, listenForCallback } from '../../platform/http/loopback-callback.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { SignInAgent } from './types.js';

/** The port of the redirect address for pasted sign-ins; nothing listens on it. */
const PASTE_PORT = 33418;
const MOST_TRIES = 3;

/** Opens the sign-in page in a local browser and receives the redirect. */
export function browserAgent(options: {
  /** Any free port when absent. */
  readonly port?: number | undefined;
  /** Shows the address in case no browser opens. */
  readonly tell: (url: string) => void;
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
          // A failure is ignored: the person still has the address.
          await options.open(url);
          return await answered;
        },
      });
    },
  };
}

/** For machines without a browser: the person opens the page elsewhere and pastes the resulting address. */
export function pasteAgent(options: {
  readonly port?: number | undefined;
  readonly tell: (url: string) => void;
  /** Shows the error before the next try. */
  readonly complain: (reason: string) => void;
  readonly nextLine: (signal: AbortSignal) => Promise<string | undefined>;
  /** Called when no more input is read. */
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
 * Parses the pasted text: the full redirect address, its query or the bare code, which carries no state and
 * is trusted because the person pasted it.
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

/** fail-closed: an answer whose state does not match this sign-in is refused. */
function withState(answer: URLSearchParams, state: string): Result<URLSearchParams, string> {
  return answer.get('state') === state
    ? ok(answer)
    : err('the answer belongs to another sign-in (its state does not match)');
}

/** The command that opens a browser on each system; the address becomes its last argument. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['/usr/bin/open'],
  // Not `start`: that is a shell builtin, and `&` in an address would end its command.
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
};

const TIMEOUT_MS = 10_000;

/** Opens a web page without a shell; false on failure. */
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
    // Serialising the URL escapes blanks, quotes and control characters.
    args: [...args, new URL(url).href],
    cwd: deps.cwd,
    env: shellEnvironment(deps.env),
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 4096,
    label: 'browser for signing in',
  });
  return result.exitCode === 0;
}
