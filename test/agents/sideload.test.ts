import { afterEach, expect, it } from 'vitest';
import { type AgentsSession, openAgentsSession } from './core-rig.js';

let open: AgentsSession | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const given = { rev: { description: 'd', prompt: 'P' } };
const managedSettings = JSON.stringify({ disableSideloadFlags: true });

it.each([given, JSON.stringify(given)])(
  'an administrator may forbid agents that a flag or a host brings: %j',
  async (agents) => {
    const session = openAgentsSession({ main: ['done'], config: { agents, managedSettings } });
    await expect(session).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('disableSideloadFlags'),
      remedy: 'Leave --agents out.',
    });
  },
);

it.each([
  ['none is given', {}, managedSettings],
  ['nobody forbids it', given, JSON.stringify({ disableSideloadFlags: false })],
])('a session starts where %s', async (_when, agents, settings) => {
  open = await openAgentsSession({
    main: ['done'],
    config: { agents, managedSettings: settings },
  });
  expect((await open.say('go')).outcome.text).toBe('done');
});
