import path from 'node:path';
import * as sdk from '@anthropic-ai/claude-agent-sdk';
import type { Client } from './suite/client.js';

/** The built program, as a client is told of it. */
export const PROGRAM = path.resolve(import.meta.dirname, '../../bin/portcullis');

/** The official library, with our program as the runtime that it starts. */
export const official: Client = {
  ...sdk,
  name: 'the official client',
  ownProcess: true,
  options: (world, { env, ...extra } = {}) => ({
    cwd: world.project.directory,
    pathToClaudeCodeExecutable: PROGRAM,
    env: { ...world.env, ...env },
    ...extra,
  }),
};
