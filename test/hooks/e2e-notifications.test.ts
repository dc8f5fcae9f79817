import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AgentsSession, openAgentsSession } from '../agents/core-rig.js';
import { drive, isQuestion, isResult } from '../e2e/host.js';
import { scripted } from '../mcp/connection-rig.js';
import { callOf } from '../mcp/wire-rig.js';
import { command, LOGS, linesOf, seen } from './e2e-rig.js';

const logs = (matcher: string) => ({
  '.claude/settings.json': {
    json: { hooks: { Notification: [{ matcher, hooks: [command(LOGS)] }] } },
  },
});

let open: AgentsSession | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await open?.close();
  open = undefined;
});

describe('the notification idle_prompt', () => {
  const told = async (waitMs: number, isAnswered: boolean) => {
    const session = await openAgentsSession({ main: ['one'], home: logs('idle_prompt') });
    open = session;
    await session.say('go');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const prompted = session.session.awaitPrompt();
    vi.advanceTimersByTime(waitMs);
    if (isAnswered) prompted();
    vi.advanceTimersByTime(isAnswered ? 600_000 : 0);
    vi.useRealTimers();
    if (!isAnswered) await expect.poll(() => linesOf(session, 'seen.jsonl')).not.toEqual([]);
    await session.session.close();
    return linesOf(session, 'seen.jsonl').map((line) => JSON.parse(line));
  };

  it('fires once when a person has been waited for 60 seconds', async () => {
    expect(await told(60_000, false)).toEqual([
      expect.objectContaining({
        notification_type: 'idle_prompt',
        message: 'Portcullis is waiting for your input',
      }),
    ]);
  });

  it('still arrives when the session is closed while its hook runs', async () => {
    const slow = `sleep 0.5; ${LOGS}; echo '{"systemMessage": "beep"}'`;
    const session = await openAgentsSession({
      main: ['one'],
      home: {
        '.claude/settings.json': {
          json: { hooks: { Notification: [{ hooks: [command(slow)] }] } },
        },
      },
    });
    open = session;
    await session.say('go');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    session.session.awaitPrompt();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    await session.session.close();
    expect(linesOf(session, 'seen.jsonl')).toHaveLength(1);
    const notices = session.news('notice').map(({ text }) => text);
    expect(notices).toContain('Notification: beep');
  });

  it('does not fire before, nor after the person has typed', async () => {
    expect(await told(59_999, true)).toEqual([]);
  });
});

describe('the notifications of a question of an MCP server', () => {
  it('fire when it is put and when it is answered', async () => {
    const config = JSON.stringify({ mcpServers: { srv: scripted({}) } });
    const done = await drive(
      {
        script: [callOf('mcp__srv__question'), 'end'],
        args: ['--allowedTools', 'mcp__srv', '--mcp-config', config],
        home: logs('elicitation_.*'),
      },
      async (host) => {
        host.prompt('go');
        host.answer(await host.next(isQuestion), { action: 'accept', content: { name: 'Ada' } });
        await host.next(isResult);
        host.end();
      },
    );
    const inputs = seen(done, 'Notification').map((input) => [
      input.notification_type,
      input.message,
    ]);
    // Hooks that nobody waits for write in any order.
    expect(inputs.sort()).toEqual([
      ['elicitation_dialog', 'The MCP server "srv" asks: your name?'],
      ['elicitation_response', 'The answer to the MCP server "srv" is accept'],
    ]);
  });
});
