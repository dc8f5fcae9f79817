import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { agent, definition, openAgentsSession } from '../agents/core-rig.js';
import { ref } from './config-rig.js';

const FIXTURE = fileURLToPath(new URL('./tools-e2e.fixture.mjs', import.meta.url));
const files = makeTempProject({});
afterAll(() => files.remove());

describe('a server that an agent of a project brings', () => {
  it.each([
    ['DATABASE_URL', 'postgres://me:hunter2secret@h/db', false],
    ['MY_CONN', `ghp_${'abcdefghijklmnopqrstuvwxyz0123456789'}`, false],
    ['PLACE', 'here', true],
  ])('is given no credential by whatever name: %s', async (name, value, starts) => {
    const spec = path.join(files.root, `${name}.json`);
    writeFileSync(spec, JSON.stringify({ tools: [{ name: 'hi', do: { text: 'hi' } }] }));
    const entry = {
      command: process.execPath,
      args: [FIXTURE, spec],
      env: { A: ref(`${name}:-none`) },
    };
    const head = `name: a\ndescription: d\nmcpServers:\n  - own: ${JSON.stringify(entry)}`;
    const world = await openAgentsSession({
      files: { '.claude/agents/a.md': definition(head, 'words') },
      main: [agent('TASKWORD', { subagent_type: 'a' }), 'end'],
      agents: { TASKWORD: ['report'] },
      env: { [name]: value },
    });
    try {
      await world.say('MAINPROMPT');
      expect(existsSync(`${spec}.log`)).toBe(starts);
      const said = world.notices.join('\n');
      if (starts) expect(said).not.toContain('is not used');
      else
        expect(said).toContain(`it wants ${name}, and a project's agent is given no credentials`);
    } finally {
      await world.close();
    }
  });

  it('is not used where a list forbids something that cannot be told', async () => {
    const spec = path.join(files.root, 'listed.json');
    writeFileSync(spec, JSON.stringify({ tools: [] }));
    const entry = { command: process.execPath, args: [FIXTURE, spec] };
    const head = `name: a\ndescription: d\nmcpServers:\n  - own: ${JSON.stringify(entry)}`;
    const deniedMcpServers = [{ serverCommand: ['*'] }];
    const world = await openAgentsSession({
      files: { '.claude/agents/a.md': definition(head, 'words') },
      main: [agent('TASKWORD', { subagent_type: 'a' }), 'end'],
      agents: { TASKWORD: ['report'] },
      config: { settings: JSON.stringify({ deniedMcpServers }) },
    });
    try {
      await world.say('MAINPROMPT');
      expect(existsSync(`${spec}.log`)).toBe(false);
      expect(world.notices.join('\n')).toContain('its servers are not used: ');
    } finally {
      await world.close();
    }
  });
});
