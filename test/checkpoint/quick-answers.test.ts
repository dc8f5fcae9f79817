import { describe, expect, it } from 'vitest';
import { openAgentsSession } from '../agents/core-rig.js';

describe('the journal of a session whose model answers at once', () => {
  it('has a point for everything that was said, also before anything was changed', async () => {
    const world = await openAgentsSession({
      files: { 'a.txt': 'one\n' },
      main: [
        'nothing to do',
        { tool: 'Write', input: { file_path: 'b.txt', content: 'two\n' } },
        'written',
      ],
      config: { allowedTools: ['Write'] },
    });
    try {
      await world.say('FIRST');
      await world.say('SECOND');
      const journal = await world.session.changes.journal();
      expect(journal?.points().map(({ title }) => title)).toEqual(['FIRST', 'SECOND']);
    } finally {
      await world.close();
    }
  });

  it('holds what a hook changes after such an answer', async () => {
    const hook = { type: 'command', command: 'echo by-hook > hook.txt' };
    const world = await openAgentsSession({
      files: {
        'a.txt': 'one\n',
        '.claude/settings.json': {
          json: { hooks: { PostToolUse: [{ matcher: 'Read', hooks: [hook] }] } },
        },
      },
      main: [{ tool: 'Read', input: { file_path: 'a.txt' } }, 'read'],
      config: { allowedTools: ['Read'] },
    });
    try {
      await world.say('FIRST');
      const journal = await world.session.changes.journal();
      const changes = (await journal?.changes()) ?? [];
      expect(changes.map(({ path, authors }) => [path, authors[0]?.kind])).toEqual([
        ['hook.txt', 'hook'],
      ]);
    } finally {
      await world.close();
    }
  });
});
