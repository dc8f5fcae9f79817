import { prewarm } from '@anthropic-ai/claude-agent-sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { official } from './official.js';
import { options } from './suite/options.js';
import { ownProcess } from './suite/process.js';
import { makeWorld } from './suite/world.js';

options(official);
ownProcess(official);

afterEach(() => vi.unstubAllEnvs());

it('a spare process that could be claimed later is refused in words', async () => {
  const world = await makeWorld();
  // Spare processes are parked below the home of the client itself.
  vi.stubEnv('HOME', world.project.home);
  await expect(prewarm({ options: official.options(world) })).rejects.toThrow(/await-claim/);
});
