import type { AgentSession, InputMessage } from '../harness.js';
import { textOf } from '../protocol/content.js';
import { printable } from '../util/printable.js';
import { ellipsis } from '../util/truncate.js';
import type { LineQueue } from './line-queue.js';

/** What happens next: a person types, or something comes for the agent. */
export type NextInput =
  | { readonly kind: 'line'; readonly line: string | undefined }
  | { readonly kind: 'arrival'; readonly messages: readonly InputMessage[] }
  | { readonly kind: 'over' };

const LOOK_MS = 300;

/** Waits for the person, and in a team for the others as well. */
export function createWaiting(session: AgentSession, lines: LineQueue): () => Promise<NextInput> {
  let isArmed = false;
  let hasArrived = false;
  let waiting: AbortController | undefined;
  const arm = (): void => {
    if (isArmed) return;
    isArmed = true;
    session.onBackgroundInput(() => {
      isArmed = false;
      hasArrived = true;
      waiting?.abort();
    });
  };
  return async () => {
    const { team } = session;
    if (team === undefined) return { kind: 'line', line: await lines.next() };
    for (;;) {
      if (team.isOver()) return { kind: 'over' };
      if (team.view() !== undefined) arm();
      // A run may have taken it along.
      const messages = hasArrived ? session.takeBackgroundInput() : [];
      hasArrived = false;
      if (messages.length > 0) return { kind: 'arrival', messages };
      if (isArmed && hasArrived) continue;
      waiting = new AbortController();
      const { signal } = waiting;
      const looking = setInterval(() => {
        if (team.isOver()) waiting?.abort();
      }, LOOK_MS);
      const line = await lines.next(signal);
      clearInterval(looking);
      if (line !== undefined || !signal.aborted) return { kind: 'line', line };
    }
  };
}

/** Who of the team says something, a line each. */
export function arrivalText({ content }: Pick<InputMessage, 'content'>): string {
  return [...textOf(content).matchAll(HEAD)]
    .map(([, from = '', kind, said = '']) => {
      const what = kind === undefined ? '' : ` (${kind})`;
      return `← ${printable(from)}${what}: ${ellipsis(printable(said), 160)}`;
    })
    .join('\n');
}

const HEAD =
  /<teammate-message id="m[\da-f]+" from="([\w-]+)"(?: kind="(\w+)")?[^>\n]*>\n([^\n]*)/g;
