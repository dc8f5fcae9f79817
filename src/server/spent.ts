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
  let apiMs = 0;
  let durationMs = 0;
  let lastUsage: Spent['lastUsage'];
  let linesAdded = 0;
  let linesRemoved = 0;
  const changed = (event: LoopEvent | SessionNews): void => {
    if (event.type === 'child') changed(event.event);
    if (event.type !== 'tool_result') return;
    for (const line of changedLines(event.result.structured)) {
      if (line.startsWith('+')) linesAdded++;
      if (line.startsWith('-')) linesRemoved++;
    }
  };
  return {
    heard(event) {
      if (event.type === 'answer') lastUsage = event.answer.usage;
      changed(event);
    },
    add(run) {
      apiMs += run.apiMs;
      durationMs += run.durationMs;
    },
    get apiMs() {
      return Math.round(apiMs);
    },
    get durationMs() {
      return Math.round(durationMs);
    },
    get linesAdded() {
      return linesAdded;
    },
    get linesRemoved() {
      return linesRemoved;
    },
    get lastUsage() {
      return lastUsage;
    },
  };
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
