import { describe, expect, it } from 'vitest';
import { itWith } from '../support/programs.js';
import { drive, type Host, isResult } from './host.js';
import { openTerminal } from './terminal.js';
import { userTexts } from './worlds.js';

const HOOKS = {
  SessionStart: [{ hooks: [{ type: 'command', command: 'echo FROM-THE-START-HOOK' }] }],
  UserPromptSubmit: [
    {
      hooks: [
        {
          type: 'command',
          command:
            'read -r input; case "$input" in *BLOCK-ME*) exit 2;; *HANG*) sleep 30.75;; esac',
        },
      ],
    },
  ],
};

/** What the first request shows the model after `first` was held back and `SECOND` was not. */
async function firstRequestAfter(first: (host: Host) => Promise<unknown>): Promise<string> {
  const done = await drive(
    {
      args: ['--include-hook-events'],
      home: { '.claude/settings.json': { json: { hooks: HOOKS } } },
      files: {
        'CLAUDE.md': 'INSTRUCTIONS-OF-THE-PROJECT\n',
        '.claude/skills/listed/SKILL.md': '---\ndescription: SKILL-IN-THE-LISTING\n---\nx\n',
        '.claude/agents/helper.md':
          '---\nname: helper\ndescription: AGENT-IN-THE-LISTING\n---\nx\n',
      },
      script: ['one', 'two'],
    },
    async (host) => {
      await first(host);
      host.prompt('SECOND');
      expect(await host.next(isResult)).toMatchObject({ result: 'one' });
      host.prompt('THIRD');
      expect(await host.next(isResult)).toMatchObject({ result: 'two' });
      host.end();
    },
  );
  expect(done.requests).toHaveLength(2);
  const [text, later] = done.requests.map(({ body }) => userTexts(body).join('\n'));
  const count = (whole: string | undefined): number =>
    whole?.split('INSTRUCTIONS-OF-THE-PROJECT').length ?? 0;
  expect([count(text), count(later)]).toEqual([2, 2]);
  return text ?? '';
}

function expectEverything(text: string): void {
  expect(text).toContain('Primary working directory');
  expect(text).toContain('SKILL-IN-THE-LISTING');
  expect(text).toContain('AGENT-IN-THE-LISTING');
  expect(text).toContain('FROM-THE-START-HOOK');
  expect(text).toContain('SECOND');
}

describe.concurrent('what stands before the first prompt reaches the model with the next one', () => {
  it('when a hook blocks the first prompt', async () => {
    const text = await firstRequestAfter(async (host) => {
      host.prompt('BLOCK-ME');
      await host.next(isResult);
    });
    expectEverything(text);
    expect(text).not.toContain('BLOCK-ME');
  });

  it('when the first prompt is interrupted while hooks look at it', async () => {
    const text = await firstRequestAfter(async (host) => {
      host.prompt('HANG');
      await host.next(
        (frame) => frame.subtype === 'hook_started' && frame.hook_event === 'UserPromptSubmit',
      );
      await host.request({ subtype: 'interrupt' });
      await host.next(isResult);
    });
    expectEverything(text);
  });

  it('when the first prompt is /compact', async () => {
    const text = await firstRequestAfter(async (host) => {
      host.prompt('/compact');
      await host.next(isResult);
    });
    expectEverything(text);
  });

  itWith(['tmux'], 'when an unknown command is typed first', async () => {
    const shell = await openTerminal({
      files: { 'CLAUDE.md': 'INSTRUCTIONS-OF-THE-PROJECT\n' },
      script: ['An answer.'],
    });
    try {
      await shell.shows('/help lists commands');
      shell.line('/nonsense');
      await shell.shows('Unknown command');
      shell.line('SECOND');
      await shell.shows('An answer.');
      const text = userTexts(shell.server.requests[0]?.body).join('\n');
      expect(text).toContain('INSTRUCTIONS-OF-THE-PROJECT');
      expect(text).toContain('Primary working directory');
    } finally {
      await shell.close();
    }
  });
});
