import type { LoopEvent, RunResult, SessionNews } from '../harness.js';
import { isRecord } from '../util/own.js';

/** What a session has taken so far, for hosts that ask. */
export interface Spent {
  /** Sees everything that the session tells. */
  heard(event: LoopEvent | SessionNews): void;
  add(run: RunResult): void;
  readonly apiMs: number;
  readonly durationMs: number;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  /** The provider's count of the last answer. */
  readonly lastUsage: Extract<LoopEvent, { type: 'answer' }>['answer']['usage'] | undefined;
}

export function createSpent(): Spent {
  return new Accounts();
}

class Accounts implements Spent {
  lastUsage: Spent['lastUsage'];
  linesAdded = 0;
  linesRemoved = 0;
  #apiMs = 0;
  #durationMs = 0;

  heard(event: LoopEvent | SessionNews): void {
    if (event.type === 'answer') this.lastUsage = event.answer.usage;
    else if (event.type === 'tool_result' || event.type === 'child') this.#changed(event);
  }

  add(run: RunResult): void {
    this.#apiMs += run.apiMs;
    this.#durationMs += run.durationMs;
  }

  get apiMs(): number {
    return Math.round(this.#apiMs);
  }

  get durationMs(): number {
    return Math.round(this.#durationMs);
  }

  #changed(event: LoopEvent): void {
    if (event.type === 'child') this.#changed(event.event);
    if (event.type !== 'tool_result') return;
    for (const line of changedLines(event.result.structured)) {
      if (line.startsWith('+')) this.linesAdded++;
      if (line.startsWith('-')) this.linesRemoved++;
    }
  }
}

/** The lines of an edit or a new file as the tool tells of them; none for other results. */
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
