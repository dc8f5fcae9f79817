import { PortcullisError } from '../../errors.js';

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
