import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { browserAgent, openBrowser, pasteAgent } from '../../src/mcp/auth/sign-in-agents.js';
import {
  type LoopbackCallback,
  listenForCallback,
} from '../../src/platform/http/loopback-callback.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { type OAuthRig, startRig } from './oauth-rig.js';

const open: LoopbackCallback[] = [];
const rigs: OAuthRig[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  for (const one of rigs.splice(0)) await one.stop();
});

async function listening(port?: number): Promise<LoopbackCallback> {
  const made = await listenForCallback(port);
  if (!made.ok) throw new Error(made.error);
  open.push(made.value);
  return made.value;
}

/** The address as a browser on this machine reaches it. */
function local(url: string): string {
  return url.replace('localhost', '127.0.0.1');
}

const patience = (): AbortSignal => AbortSignal.timeout(20_000);

describe('the address that a browser comes back to', () => {
  it('takes one answer, with the right state, and is gone', async () => {
    const callback = await listening();
    expect(callback.redirectUrl).toMatch(/^http:\/\/localhost:\d+\/callback$/);
    const answer = callback.answer('right', patience());
    const url = local(callback.redirectUrl);
    expect((await fetch(`${url}?code=stolen&state=wrong`)).status).toBe(400);
    expect((await fetch(`${url}?code=stolen`)).status).toBe(400);
    expect((await fetch(new URL('/elsewhere?state=right', url))).status).toBe(404);
    expect((await fetch(`${url}?state=right`, { method: 'POST' })).status).toBe(405);
    const page = await fetch(`${url}?code=%3Cscript%3E&state=right`);
    expect(page.status).toBe(200);
    expect(await page.text()).not.toContain('<script>');
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'");
    const answered = await answer;
    expect(answered.ok && answered.value.get('code')).toBe('<script>');
    await expect(fetch(`${url}?code=second&state=right`)).rejects.toThrow();
  });

  it('does not answer a page that had its name point here', async () => {
    const callback = await listening();
    void callback.answer('right', patience());
    const { request } = await import('node:http');
    const status = await new Promise<number | undefined>((resolve) => {
      const url = `${local(callback.redirectUrl)}?code=x&state=right`;
      request(url, { headers: { host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(421);
  });

  it('says so when its port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await listenForCallback(port)).toEqual({
      ok: false,
      error: `port ${port} is in use; free it, or choose another one as callbackPort`,
    });
    await new Promise((resolve) => other.close(resolve));
    expect((await listening(port)).redirectUrl).toContain(`:${port}/`);
  });

  it('can be given up', async () => {
    const callback = await listening();
    const given = new AbortController();
    const answer = callback.answer('right', given.signal);
    given.abort();
    expect(await answer).toEqual({ ok: false, error: 'the sign-in was given up' });
  });
});

describe('a sign-in with a browser', () => {
  it('comes back by itself', async () => {
    const rig = await startRig();
    rigs.push(rig);
    const told: string[] = [];
    const agent = browserAgent({
      tell: (url) => told.push(url),
      async open(url) {
        const page = await fetch(url, { redirect: 'manual' });
        await fetch(local(page.headers.get('location') ?? ''));
        return true;
      },
    });
    const auth = rig.auth();
    expect(await auth.signIn(agent, patience())).toEqual({ ok: true, value: undefined });
    expect(told).toHaveLength(1);
    expect(await rig.ask(auth)).toBe(200);
  });

  it('hands the address to a program as one argument, and only addresses of pages', async () => {
    const started: (readonly string[])[] = [];
    const real = createProcessSupervisor();
    const processes = {
      run: (request: Parameters<typeof real.run>[0]) => {
        started.push([request.command, ...request.args]);
        return real.run({ ...request, command: 'true' });
      },
    };
    const deps = { processes, env: process.env, cwd: '/', platform: 'linux' };
    expect(await openBrowser('https://as.example/a?x=$(id)&y=`id`;"', deps)).toBe(true);
    expect(started).toEqual([['xdg-open', 'https://as.example/a?x=$(id)&y=`id`;%22']]);
    expect(await openBrowser('file:///etc/passwd', deps)).toBe(false);
    expect(await openBrowser('--help', deps)).toBe(false);
    expect(started).toHaveLength(1);
  });
});

describe('a sign-in by copy and paste', () => {
  async function paste(
    lines: (back: URL) => readonly (string | undefined)[],
  ): Promise<{ ok: boolean; complaints: string[]; message: string | undefined }> {
    const rig = await startRig();
    rigs.push(rig);
    const complaints: string[] = [];
    let waiting: (string | undefined)[] | undefined;
    let page = '';
    const agent = pasteAgent({
      tell: (url) => {
        page = url;
      },
      complain: (reason) => complaints.push(reason),
      async nextLine() {
        if (waiting === undefined) {
          const response = await fetch(page, { redirect: 'manual' });
          waiting = [...lines(new URL(response.headers.get('location') ?? ''))];
        }
        return waiting.shift();
      },
    });
    const done = await rig.auth().signIn(agent, patience());
    return { ok: done.ok, complaints, message: done.ok ? undefined : done.error.message };
  }

  it('takes the address that the browser ended on', async () => {
    expect(await paste((back) => [back.href])).toMatchObject({ ok: true, complaints: [] });
  });

  it('takes the query or the code alone', async () => {
    expect(await paste((back) => [`  ${back.search}  `])).toMatchObject({ ok: true });
    expect(await paste((back) => [back.searchParams.get('code') ?? ''])).toMatchObject({
      ok: true,
    });
  });

  it('lets a person try again, three times', async () => {
    const good = await paste((back) => [
      'what is this',
      back.href.replace('state=', 'state=x'),
      back.href,
    ]);
    expect(good).toMatchObject({ ok: true });
    expect(good.complaints).toHaveLength(2);
    const bad = await paste((back) => ['', 'a b', 'c d', back.href]);
    expect(bad.ok).toBe(false);
  });

  it('ends with the input', async () => {
    expect((await paste(() => [undefined])).message).toContain('nothing was pasted');
  });
});
