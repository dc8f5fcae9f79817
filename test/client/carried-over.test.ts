import { describe, expect, it } from 'vitest';
import { ALL_QUESTIONS, connectClient, type LocalClient } from '../../src/client/local-client.js';
import { isResult, type WireOptions, wire } from '../wire/host.js';

const touch = { tool: 'Bash', input: { command: 'touch made', description: 'Make it' } };

async function joined(options: WireOptions) {
  let client: LocalClient | undefined;
  const host = await wire({
    ...options,
    serving: {
      onRunner(runner) {
        client = connectClient(runner, { name: 'terminal', answers: ALL_QUESTIONS });
      },
    },
  });
  if (client === undefined) throw new Error('the session has no runner');
  const terminal = client;
  const run = (line: string) => terminal.send('command', { line });
  return { host, run };
}

describe('what a person has restricted by a slash command', () => {
  it.each(['deny', 'ask'])('as a rule (%s) holds after /clear', async (behavior) => {
    const { host, run } = await joined({
      script: [touch, 'done'],
      config: { allowedTools: ['Bash'] },
    });
    await run(`/permissions ${behavior} Bash(touch *) session`);
    expect(await run('/clear')).not.toHaveProperty('failed');
    host.prompt('go');
    expect((await host.next(isResult)).permission_denials).toHaveLength(1);
    expect(host.project.exists('made')).toBe(false);
  });

  it('as the model holds after /clear', async () => {
    const { host, run } = await joined({ script: ['done'] });
    await run('/model haiku');
    await run('/clear');
    host.prompt('go');
    await host.next(isResult);
    const { body } = host.model.requests[0] ?? {};
    expect((body as { model: string }).model).toContain('haiku');
  });

  it('as a server that is off holds after /clear', async () => {
    const { run } = await joined({
      config: { mcpConfig: [{ srv: { command: 'true' } }] },
    });
    expect((await run('/mcp disable srv')).text).toContain('srv: off');
    await run('/clear');
    expect((await run('/mcp')).text).toContain('srv: off');
    await run('/mcp enable srv');
    expect(await run('/clear')).not.toHaveProperty('failed');
    expect((await run('/mcp')).text).not.toContain('srv: off');
  });
});
