import type { TurnRunner } from '../client/turn-runner.js';
import type { SessionKind } from './live-files.js';

/** A session that ends within this time never opens its socket. */
const DELAY_MS = 100;

/**
 * Lets consoles of this user join a session through a local socket once it runs, or once it asks something.
 * `PORTCULLIS_SESSION_SOCKET=off` keeps it closed.
 */
export function announceSession(
  runner: TurnRunner,
  facts: {
    readonly kind: SessionKind;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): void {
  if (facts.env.PORTCULLIS_SESSION_SOCKET === 'off') return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let close: (() => void) | undefined;
  const open = async (): Promise<void> => {
    const { openSessionSocket } = await import('./session-socket.js');
    if (isOver) return;
    const socket = await openSessionSocket(runner, facts);
    close = socket.close;
    if (isOver) socket.close();
  };
  runner.log.subscribe(({ event }) => {
    if (event.type === 'closed') {
      isOver = true;
      clearTimeout(timer);
      close?.();
    } else if (timer === undefined && (event.type === 'opened' || event.type === 'question')) {
      // A session without a socket works as usual; consoles do not list it.
      timer = setTimeout(() => void open().catch(() => undefined), DELAY_MS);
      timer.unref();
    }
  });
}
