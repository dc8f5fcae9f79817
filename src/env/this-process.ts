import { PortcullisError } from '../errors.js';

/** The environment that this process was started with. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The version of Node that runs this program, without its `v`. */
export function nodeVersion(): string {
  return process.versions.node;
}

export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (thrown) {
    throw new PortcullisError('io', 'the working directory does not exist any more', {
      remedy: 'give the session a directory that exists',
      cause: thrown,
    });
  }
}

const atTheEnd = new Set<() => void>();
let isListening = false;

/**
 * Calls `act` when this process ends in any way but by a signal that nobody hears. It has to do its work at once.
 * Returns what takes it back.
 */
export function atExit(act: () => void): () => void {
  atTheEnd.add(act);
  // One for all: a host may have many sessions.
  if (!isListening) process.on('exit', endAll);
  isListening = true;
  return () => void atTheEnd.delete(act);
}

function endAll(): void {
  for (const act of atTheEnd) {
    try {
      act();
    } catch {
      // The process ends, and the others have their turn.
    }
  }
}
