import type { EventLog } from '../client/event-log.js';
import type { AnswerEvent, SessionEvent } from '../client/events.js';
import { isRecord } from '../lib/own.js';

/** What a session has taken so far, for hosts that ask. */
export class UsageTotals {
  /** The provider's count of the last answer. */
  lastUsage: AnswerEvent['answer']['usage'] | undefined;
  linesAdded = 0;
  linesRemoved = 0;
  #apiMs = 0;
  #durationMs = 0;

  constructor(log: EventLog) {
    log.subscribe(({ event }) => this.#follow(event));
  }

  get apiMs(): number {
    return Math.round(this.#apiMs);
  }

  get durationMs(): number {
    return Math.round(this.#durationMs);
  }

  #follow(event: SessionEvent): void {
    if (event.type === 'answer') this.lastUsage = event.answer.usage;
    else if (event.type === 'turn_finished') {
      this.#apiMs += event.turn.run.apiMs;
      this.#durationMs += event.turn.run.durationMs;
    } else this.#countLines(event);
  }

  #countLines(event: SessionEvent): void {
    if (event.type === 'child') this.#countLines(event.event);
    if (event.type !== 'tool_result') return;
    for (const line of changedLines(event.result.structured)) {
      if (line.startsWith('+')) this.linesAdded++;
      if (line.startsWith('-')) this.linesRemoved++;
    }
  }
}

/** The lines of an edit or a new file as the tool reports them; none for other results. */
function changedLines(result: unknown): readonly string[] {
  if (!isRecord(result) || !Array.isArray(result.structuredPatch)) return [];
  if (result.type === 'create' && typeof result.content === 'string') {
    const lines = result.content.split('\n');
    return (result.content.endsWith('\n') ? lines.slice(0, -1) : lines).map((line) => `+${line}`);
  }
  const hunks: readonly unknown[] = result.structuredPatch;
  return hunks.flatMap((hunk) =>
    isRecord(hunk) && Array.isArray(hunk.lines)
      ? hunk.lines.filter((line): line is string => typeof line === 'string')
      : [],
  );
}
