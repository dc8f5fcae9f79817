import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface PromptHistoryFile {
  load(): string[];
  append(prompt: string): void;
}

const MOST_ENTRIES = 1_000;
const MOST_BYTES = 2_000_000;

/** Prompts in a file, one JSON text per line, shared by the sessions of a user. */
export function historyFile(file: string): PromptHistoryFile {
  return {
    load() {
      try {
        const entries = readFileSync(file, 'utf8')
          .split('\n')
          .flatMap(readEntry)
          .slice(-MOST_ENTRIES);
        if (statSync(file).size > MOST_BYTES) {
          writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), {
            mode: 0o600,
          });
        }
        return entries;
      } catch {
        // A history that cannot be read is an empty one.
        return [];
      }
    },
    append(prompt) {
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, `${JSON.stringify(prompt)}\n`, { mode: 0o600 });
      } catch {
        // The prompt is still in the history of this session.
      }
    },
  };
}

function readEntry(row: string): string[] {
  try {
    const entry: unknown = JSON.parse(row);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    // A torn line of a crash.
    return [];
  }
}
