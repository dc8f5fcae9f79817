import { setMaxListeners } from 'node:events';
import { release, tmpdir, type } from 'node:os';
import { PortcullisError } from '../errors.js';

/** The facts about the machine in the system prompt. */
export function hostFacts(): {
  readonly platform: string;
  readonly temporaryDirectory: string;
  readonly isRoot: boolean;
  readonly os: string;
} {
  return {
    platform: `${type()} ${release()}`,
    temporaryDirectory: tmpdir(),
    os: process.platform,
    isRoot: process.getuid?.() === 0,
  };
}

/**
 * Node warns of a leak when more than ten listen to one signal. Calls that run beside each other all listen
 * to the signal of their turn, and each takes its listener away at its end.
 */
export function mayHaveManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

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
