import type { RawLine } from './archive.js';
import { classifyLine, SessionReader } from './lines.js';
import type { LoadedSession } from './store.js';

/** A session from its lines, as the stores give it. */
export function sessionOf(sessionId: string, lines: readonly RawLine[]): LoadedSession {
  const reader = new SessionReader();
  for (const line of lines) reader.add(classifyLine(line));
  return reader.session(sessionId);
}
