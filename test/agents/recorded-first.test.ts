import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agent } from './arrival-rig.js';
import { openAgentsSession } from './core-rig.js';

const READ = { tool: 'Read', input: { file_path: 'a.txt' }, id: 'toolu_read' };

/** Copies what the transcripts of agents hold just now. */
const COPY = `find "$HOME/.claude/projects" -name 'agent-*.jsonl' -exec cat {} + > "$1"\n`;

describe('what an agent has said', () => {
  it('is in its transcript before a command of its own runs, however little time has passed', async () => {
    const world = await openAgentsSession({
      files: { 'a.txt': 'CONTENT-OF-A\n', 'copy.sh': COPY },
      main: [agent('LOOKER'), 'ok'],
      agents: {
        LOOKER: [READ, { tool: 'Bash', input: { command: 'sh copy.sh seen.txt' } }, 'done'],
      },
      config: { allowedTools: ['Bash', 'Read'] },
    });
    try {
      await world.say('go');
      const seen = readFileSync(world.project.at('seen.txt'), 'utf8');
      expect(seen).toContain('CONTENT-OF-A');
      expect(seen).toContain('sh copy.sh seen.txt');
      for (const line of seen.split('\n').filter(Boolean)) JSON.parse(line);
    } finally {
      await world.close();
    }
  });

  it('is in its transcript before a hook is told where that is', async () => {
    const hook = { type: 'command', command: 'sh copy.sh "$PWD/seen.txt"' };
    const world = await openAgentsSession({
      files: {
        'a.txt': 'CONTENT-OF-A\n',
        'copy.sh': COPY,
        '.claude/settings.json': {
          json: { hooks: { PreToolUse: [{ matcher: 'Read', hooks: [hook] }] } },
        },
      },
      main: [agent('LOOKER'), 'ok'],
      agents: { LOOKER: [READ, 'done'] },
      config: { allowedTools: ['Read'] },
    });
    try {
      await world.say('go');
      const seen = readFileSync(world.project.at('seen.txt'), 'utf8');
      expect(seen).toContain('"name":"Read"');
    } finally {
      await world.close();
    }
  });
});
