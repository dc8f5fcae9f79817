import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { drive, type Host, isQuestion, isResult } from '../e2e/host.js';
import type { Message } from '../support/wire-host.js';
import { nodeEntry, scripted } from './connection-rig.js';
import { answerMessage, callOf, words } from './wire-rig.js';

const FILE_FIXTURE = path.join(import.meta.dirname, 'commands-tools.fixture.mjs');
const stdio = { ...scripted({}), env: { TOKEN: 'VALUE-OF-TOKEN' } };
const echo = (a: number) => callOf('mcp__srv__echo', { a });
const allow = ['--allowedTools', 'mcp__srv'];

/** One prompt after the other, with something in between. */
async function play(
  scenario: Scenario,
  steps: (host: Host, prompt: () => Promise<void>) => Promise<void>,
): Promise<ScenarioRun> {
  return await drive(scenario, async (host) => {
    await host.request({ subtype: 'initialize' });
    await steps(host, async () => {
      host.prompt('go');
      await host.next(isResult);
    });
    host.end();
  });
}

const rowsOf = async (host: Host): Promise<readonly Message[]> => {
  const { response } = await host.request({ subtype: 'mcp_status' });
  return (response as { mcpServers: readonly Message[] }).mcpServers;
};

describe('mcp_set_servers', () => {
  it('adds servers and takes them out', async () => {
    const servers = { srv: stdio, bad: { command: '/nonexistent/x' }, odd: { type: 'what' } };
    const done = await play(
      { script: [echo(1), 'ok', echo(2), 'end'], args: allow },
      async (host, prompt) => {
        expect(await rowsOf(host)).toEqual([]);
        expect(await host.request({ subtype: 'mcp_set_servers', servers })).toMatchObject({
          response: {
            added: ['srv', 'bad', 'odd'],
            removed: [],
            errors: { bad: expect.stringMatching(/bad/), odd: expect.stringMatching(/what/) },
          },
        });
        await prompt();
        expect(await host.request({ subtype: 'mcp_set_servers', servers: {} })).toMatchObject({
          response: { added: [], removed: ['srv', 'bad', 'odd'], errors: {} },
        });
        await prompt();
        expect(await rowsOf(host)).toEqual([]);
      },
    );
    expect(done.toolResult(0)).toEqual({ text: '{"a":1}', isError: false });
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.toolResult(1).text).toContain('"srv" was taken out of this session');
  });

  it('keeps what is the same connected, and servers of flags', async () => {
    const pid = callOf('mcp__srv__pid');
    const done = await play(
      {
        script: [pid, 'ok', pid, 'end'],
        args: [...allow, '--mcp-config', JSON.stringify({ mcpServers: { kept: stdio } })],
      },
      async (host, prompt) => {
        const servers = { srv: stdio };
        await host.request({ subtype: 'mcp_set_servers', servers });
        await prompt();
        const again = await host.request({ subtype: 'mcp_set_servers', servers });
        expect(again).toMatchObject({ response: { added: [], removed: [] } });
        await prompt();
        expect((await rowsOf(host)).map(({ name }) => name).sort()).toEqual(['kept', 'srv']);
      },
    );
    expect(done.toolResult(0).text).toMatch(/^\d+$/);
    expect(done.toolResult(1).text).toBe(done.toolResult(0).text);
  });

  it('takes servers of the host, which are greeted after the answer', async () => {
    const server = { tools: { hi: () => words('hello') } };
    await drive(
      { script: [callOf('mcp__own__hi'), 'end'], args: ['--allowedTools', 'mcp__own'] },
      async (host) => {
        await host.request({ subtype: 'initialize' });
        const servers = { own: { type: 'sdk', name: 'own' } };
        const set = await host.request({ subtype: 'mcp_set_servers', servers });
        expect(set).toMatchObject({ response: { added: ['own'], errors: {} } });
        for (let method = ''; method !== 'tools/list'; ) {
          const asked = await host.next(isQuestion);
          const request = asked.request as Message;
          method = String((request.message as Message).method);
          host.answer(asked, (await answerMessage(server, request, host as never)) as object);
        }
        while ((await rowsOf(host))[0]?.status !== 'connected') await new Promise(setImmediate);
        host.prompt('go');
        const call = await host.next(isQuestion);
        host.answer(
          call,
          (await answerMessage(server, call.request as Message, host as never)) as object,
        );
        const shown = await host.next(({ type }) => type === 'user');
        expect(JSON.stringify(shown)).toContain('hello');
        await host.next(isResult);
        host.end();
      },
    );
  });

  it('that put another server under a known name ask about changed tools', async () => {
    const place = makeTempProject({
      files: { 'a.json': '{"t":"benign"}', 'b.json': '{"t":"<IMPORTANT>","u":"new"}' },
    });
    onTestFinished(() => place.remove());
    const from = (file: string) => ({ srv: nodeEntry([FILE_FIXTURE, place.at(file)]) });
    const t = callOf('mcp__srv__t');
    const done = await play(
      { script: [t, 'ok', t, callOf('mcp__srv__u'), 'end'], args: allow },
      async (host, prompt) => {
        await host.request({ subtype: 'mcp_set_servers', servers: from('a.json') });
        await prompt();
        const set = await host.request({ subtype: 'mcp_set_servers', servers: from('b.json') });
        expect(set).toMatchObject({ response: { added: ['srv'], removed: ['srv'], errors: {} } });
        await prompt();
      },
    );
    expect(done.toolResult(0).isError).toBe(false);
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.toolResult(1).text).toContain('changed the definition');
    expect(done.toolResult(2).isError).toBe(false);
    const tools = JSON.stringify(done.requests.map(({ body }) => (body as Message).tools));
    expect(tools).not.toContain('IMPORTANT');
  });

  it('is refused where the request is wrong', async () => {
    await play({ script: [] }, async (host) => {
      for (const request of [
        { subtype: 'mcp_set_servers' },
        { subtype: 'mcp_toggle', serverName: 'x', enabled: 'yes' },
        { subtype: 'mcp_reconnect' },
        { subtype: 'mcp_message', server_name: 'nobody', message: {} },
      ]) {
        expect(await host.request(request)).toMatchObject({ subtype: 'error' });
      }
    });
  });
});

describe('mcp_toggle and mcp_reconnect', () => {
  const config = ['--mcp-config', JSON.stringify({ mcpServers: { srv: stdio } })];

  it('turn a server off and on', async () => {
    const done = await play(
      { script: [echo(1), 'ok', echo(2), 'ok', echo(3), 'end'], args: [...allow, ...config] },
      async (host, prompt) => {
        await prompt();
        const toggle = (enabled: boolean) =>
          host.request({ subtype: 'mcp_toggle', serverName: 'srv', enabled });
        expect(await toggle(false)).toMatchObject({ subtype: 'success' });
        expect(await rowsOf(host)).toMatchObject([{ name: 'srv', status: 'disabled' }]);
        await prompt();
        expect(await toggle(true)).toMatchObject({ subtype: 'success' });
        expect(await rowsOf(host)).toMatchObject([{ name: 'srv', status: 'connected' }]);
        await prompt();
      },
    );
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.toolResult(1).text).toContain('"srv" is turned off in this session');
    expect(done.toolResult(2)).toEqual({ text: '{"a":3}', isError: false });
  });

  it('start a server anew, and say what they do not know', async () => {
    const pid = callOf('mcp__srv__pid');
    const done = await play(
      { script: [pid, 'ok', pid, 'end'], args: [...allow, ...config] },
      async (host, prompt) => {
        await prompt();
        const again = await host.request({ subtype: 'mcp_reconnect', serverName: 'srv' });
        expect(again).toMatchObject({ subtype: 'success' });
        await prompt();
        for (const subtype of ['mcp_reconnect', 'mcp_toggle']) {
          expect(await host.request({ subtype, serverName: 'nope', enabled: false })).toMatchObject(
            { subtype: 'error', error: 'Server not found: nope' },
          );
        }
      },
    );
    expect(done.toolResult(1).text).toMatch(/^\d+$/);
    expect(done.toolResult(1).text).not.toBe(done.toolResult(0).text);
  });

  it('do not let a server in that the rules keep out', async () => {
    const files = { '.mcp.json': JSON.stringify({ mcpServers: { srv: stdio } }) };
    await play({ files, script: [] }, async (host) => {
      expect(await rowsOf(host)).toMatchObject([{ name: 'srv', status: 'pending' }]);
      const on = { subtype: 'mcp_toggle', serverName: 'srv', enabled: true };
      expect(await host.request(on)).toMatchObject({ subtype: 'error' });
      const again = { subtype: 'mcp_reconnect', serverName: 'srv' };
      expect(await host.request(again)).toMatchObject({ subtype: 'error' });
      expect(await rowsOf(host)).toMatchObject([{ name: 'srv', status: 'pending' }]);
    });
  });
});

describe('mcp_status', () => {
  it('shows entries without their secrets', async () => {
    const remote = {
      type: 'http',
      url: 'http://127.0.0.1:9/mcp?key=SECRET-1',
      headers: { 'X-Key': 'SECRET-2' },
      oauth: { clientSecret: 'SECRET-3' },
    };
    const local = {
      command: '/nonexistent/x',
      args: ['--api-key', 'SECRET-4', '--token=SECRET-5', 'plain'],
      env: { TOKEN: 'SECRET-6' },
    };
    await play(
      {
        script: [],
        env: { MCP_TIMEOUT: '2000' },
        args: ['--mcp-config', JSON.stringify({ mcpServers: { remote, local } })],
      },
      async (host) => {
        const rows = await rowsOf(host);
        expect(JSON.stringify(rows)).not.toContain('SECRET');
        expect(rows).toMatchObject([
          { config: { type: 'http', headers: { 'X-Key': '[hidden]' } }, transport: 'http' },
          {
            config: { type: 'stdio', args: ['--api-key', '[hidden]', '--token=[hidden]', 'plain'] },
          },
        ]);
      },
    );
  });
});

describe('elicitation', () => {
  const config = ['--mcp-config', JSON.stringify({ mcpServers: { srv: stdio } })];
  const question = callOf('mcp__srv__question');
  const ask = async (answer: object | undefined): Promise<ScenarioRun> =>
    await drive({ script: [question, 'end'], args: [...allow, ...config] }, async (host) => {
      await host.request({ subtype: 'initialize' });
      host.prompt('go');
      const asked = await host.next(isQuestion);
      expect(asked.request).toMatchObject({
        subtype: 'elicitation',
        mcp_server_name: 'srv',
        message: 'your name?',
        mode: 'form',
      });
      if (answer === undefined) {
        host.send({
          type: 'control_response',
          response: { subtype: 'error', request_id: asked.request_id, error: 'Unsupported' },
        });
      } else host.answer(asked, answer);
      await host.next(isResult);
      host.end();
    });

  it('goes to the host and back', async () => {
    const done = await ask({ action: 'accept', content: { name: 'Ada' } });
    expect(JSON.parse(done.toolResult(0).text)).toEqual({
      action: 'accept',
      content: { name: 'Ada' },
    });
  });

  it('is declined by a host that does not know it', async () => {
    const done = await ask(undefined);
    expect(JSON.parse(done.toolResult(0).text)).toEqual({ action: 'decline' });
  });
});
