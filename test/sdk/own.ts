import * as sdk from '../../src/index.js';
import type { Client } from './suite/client.js';

/** Our own library, in this process. Its types are its own; the suite holds it to the official shapes. */
export const own = {
  ...sdk,
  name: 'our own client',
  ownProcess: false,
  options: (world, { env, ...extra } = {}) => ({
    cwd: world.project.directory,
    env: { ...world.env, ...env },
    ...extra,
  }),
} as Pick<Client, 'name' | 'ownProcess' | 'options'> as Client;
