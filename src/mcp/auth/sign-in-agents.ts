import { err, ok } from '../../lib/result.js';
import { CALLBACK_PATH, listenForCallback } from '../../platform/http/loopback-callback.js';
import { answerFromPaste } from './answer.js';
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
