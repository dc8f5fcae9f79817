import type { AgentSession } from '../app.js';

/** How long the first turn waits for servers that are still starting. */
const SERVERS_MS = 5_000;
/** How often a teammate looks whether its team has let it go. */
const TEAM_MS = 300;

/** What the turn runner waits for between and before turns. */
export class Waits {
  readonly #awaitsPerson: boolean;
  #wake: () => void = () => undefined;
  #hurry: () => void = () => undefined;
  #listensTo: AgentSession | undefined;

  constructor(awaitsPerson: boolean) {
    this.#awaitsPerson = awaitsPerson;
  }

  /** Ends the sleep. */
  wake(): void {
    this.#wake();
  }

  /** Ends the wait for servers. */
  hurry(): void {
    this.#hurry();
  }

  /** Waits for a prompt, for finished background work, or for the end of the team (`onOver`). */
  async sleep(session: AgentSession | undefined, onOver: () => void): Promise<void> {
    const prompted = this.#awaitsPerson ? session?.awaitPrompt() : undefined;
    const { team } = session ?? {};
    const look = (): void => {
      if (team?.isOver() === true) onOver();
    };
    const looking = team === undefined ? undefined : setInterval(look, TEAM_MS);
    try {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (session !== undefined) this.#wakeOnBackgroundInput(session);
      });
    } finally {
      clearInterval(looking);
      prompted?.();
    }
  }

  /** Servers that have not answered are waited for, but not for ever, and not once it is interrupted. */
  async forServers(answered: Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SERVERS_MS);
      this.#hurry = resolve;
    });
    try {
      await Promise.race([answered.catch(() => undefined), over]);
    } finally {
      clearTimeout(timer);
      this.#hurry = () => undefined;
    }
  }

  /** One listener at a time: it is gone only when something arrives. */
  #wakeOnBackgroundInput(session: AgentSession): void {
    if (this.#listensTo === session) return;
    this.#listensTo = session;
    session.onBackgroundInput(() => {
      this.#listensTo = undefined;
      this.#wake();
    });
  }
}
