import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Access, userLine } from '../../src/console/access.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { run } from '../e2e/worlds.js';
import { type RunningConsole, startConsole } from './console.js';

let project: TempProject;
let page: RunningConsole;
beforeAll(async () => {
  project = makeTempProject();
  page = await startConsole(project.home);
});
afterAll(async () => {
  await page.close();
  project.remove();
});

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

/** A request with exactly these headers beside the host. */
function send({ path = '/api/overview', method = 'GET', headers = {}, body }: Sent) {
  return new Promise<{ status: number; text: string; headers: http.IncomingHttpHeaders }>(
    (resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port: page.port, path, method, headers, agent: false },
        (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
          );
        },
      );
      request.once('error', reject);
      request.end(body);
    },
  );
}

const bearer = () => ({ authorization: `Bearer ${page.token}` });

describe('the console refuses', () => {
  it('a request without a token, with a wrong one, and with one in the address', async () => {
    expect((await send({})).status).toBe(401);
    expect((await send({ headers: { authorization: 'Bearer x' } })).status).toBe(401);
    expect((await send({ headers: { authorization: `Bearer ${page.token}x` } })).status).toBe(401);
    expect((await send({ path: `/api/overview?token=${page.token}` })).status).toBe(401);
    expect((await send({ headers: { cookie: `token=${page.token}` } })).status).toBe(401);
    expect((await send({ headers: bearer() })).status).toBe(200);
  });

  it('a host that another name leads to this machine (DNS rebinding)', async () => {
    for (const host of ['evil.test', `evil.test:${page.port}`, '127.0.0.1:1', 'localhost.evil']) {
      const { status } = await send({ headers: { ...bearer(), host } });
      expect([400, 421]).toContain(status);
    }
    const { status } = await send({ headers: { ...bearer(), host: `localhost:${page.port}` } });
    expect(status).toBe(200);
  });

  it('requests of other sites and other origins, `null` among them', async () => {
    const refused: http.OutgoingHttpHeaders[] = [
      { origin: 'http://evil.test' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${page.port + 1}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ];
    for (const headers of refused) {
      expect((await send({ headers: { ...bearer(), ...headers } })).status).toBe(403);
      expect((await send({ path: '/', headers })).status).toBe(403);
      const post = { path: '/api/answer', method: 'POST', body: '{}' };
      const type = { 'content-type': 'application/json' };
      expect((await send({ ...post, headers: { ...bearer(), ...type, ...headers } })).status).toBe(
        403,
      );
    }
    const preflight = { origin: 'http://evil.test', 'access-control-request-method': 'POST' };
    const { status, headers } = await send({ method: 'OPTIONS', headers: preflight });
    expect(status).toBe(403);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('bodies that a form of another site can send, bodies that are none, and bodies that are too long', async () => {
    const post = { path: '/api/explain', method: 'POST' };
    const status = async (type: string, body: string) =>
      (await send({ ...post, headers: { ...bearer(), 'content-type': type }, body })).status;
    expect(await status('text/plain', '{}')).toBe(415);
    expect(await status('application/x-www-form-urlencoded', 'a=b')).toBe(415);
    expect(await status('application/json', '[]')).toBe(400);
    expect(await status('application/json', '{')).toBe(400);
    expect(
      await status('application/json', `{"a":"${'x'.repeat(2_000_000)}"}`).catch(() => 413),
    ).toBe(413);
  });

  it('other methods, other paths, and ways out of the page’s directory', async () => {
    expect((await send({ method: 'DELETE', headers: bearer() })).status).toBe(405);
    expect((await send({ path: '/api/answer', headers: bearer() })).status).toBe(405);
    for (const path of [
      '/../package.json',
      '/..%2fpackage.json',
      '/etc/passwd',
      '/__proto__',
      '/api/__proto__',
    ]) {
      expect((await send({ path, headers: bearer() })).status).toBe(404);
    }
  });

  it('to be framed or to load anything from elsewhere, and sets no cookie', async () => {
    const { headers, text } = await send({ path: '/' });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(headers['set-cookie']).toBeUndefined();
    expect(text).not.toMatch(/(src|href)="(?!\/)/);
  });
});

describe('the console', () => {
  it('stays up under 1,000 slow readers, and ends those beyond what it serves', async () => {
    const readers: net.Socket[] = [];
    const statuses = new Map<string, number>();
    for (let i = 0; i < 1_000; i++) {
      const socket = net.connect(page.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        socket.pause();
        const status = String(data).slice(9, 12);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      socket.write(
        `GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:${page.port}\r\nauthorization: Bearer ${page.token}\r\n\r\n`,
      );
      readers.push(socket);
    }
    while ([...statuses.values()].reduce((sum, n) => sum + n, 0) < 1_000) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(statuses.get('200')).toBeLessThanOrEqual(64);
    expect((await send({ headers: bearer() })).status).toBe(200);
    for (const socket of readers) socket.destroy();
    const status = await new Promise<number>((resolve) => {
      const again = (): void => {
        const request = http.get(
          {
            host: '127.0.0.1',
            port: page.port,
            path: '/api/stream',
            headers: bearer(),
            agent: false,
          },
          (response) => {
            request.destroy();
            if (response.statusCode === 200) resolve(200);
            else setTimeout(again, 50);
          },
        );
        request.on('error', () => undefined);
      };
      again();
    });
    expect(status).toBe(200);
  });

  it("refuses an agent's shell that knows the token", async () => {
    const code = `fetch(process.argv[2] + '/api/answer', { method: 'POST', headers: { authorization: 'Bearer ' + process.argv[3], 'content-type': 'application/json' }, body: '{}' }).then(async (r) => console.log(r.status, await r.text()))`;
    const done = await run({
      files: { 'attack.mjs': code },
      script: [
        {
          tool: 'Bash',
          input: { command: `node attack.mjs ${page.origin} ${page.token}`, description: 'x' },
        },
        'Done.',
      ],
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
      prompt: 'go',
    });
    expect(done.toolResult(0).text).toContain('403');
    expect(done.toolResult(0).text).toContain('a process of an agent');
    // The same from here, where no agent is above, is refused for what it says.
    const own = await page.post('/api/answer', {});
    expect(own.status).toBe(400);
  });

  it('does not start for an agent', () => {
    const ran = spawnSync(process.execPath, ['bin/portcullis', 'console'], {
      encoding: 'utf8',
      timeout: 20_000,
      env: { PATH: process.env.PATH, HOME: project.home, PORTCULLIS: '1' },
    });
    expect(ran.status).not.toBe(0);
    expect(ran.stderr).toContain('only a person may run console');
  });

  it('ends within a moment when it is told to, with code 0', async () => {
    const other = await startConsole(project.home);
    expect(await other.close('SIGINT')).toBe(0);
  });
});

describe('people who sign in', () => {
  it('have a role, and a viewer answers nothing', async () => {
    const file = project.at('users');
    const lines = [
      userLine('vera', 'viewer', 'correct horse battery'),
      userLine('oz', 'operator', 'correct horse battery'),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    const shared = await startConsole(project.home, [
      '--password-file',
      file,
      '--host',
      '0.0.0.0',
      '--allow-host',
      '127.0.0.1',
    ]);
    const origin = `http://127.0.0.1:${shared.port}`;
    const call = (path: string, body: unknown, token = '') =>
      fetch(origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
    expect((await call('/api/sign-in', { name: 'vera', password: 'wrong' })).status).toBe(403);
    expect((await call('/api/sign-in', { name: 'nobody', password: 'wrong' })).status).toBe(403);
    const signIn = async (name: string) =>
      (await (await call('/api/sign-in', { name, password: 'correct horse battery' })).json()) as {
        token: string;
      };
    const [vera, oz] = [await signIn('vera'), await signIn('oz')];
    const refused = await call('/api/answer', {}, vera.token);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('vera is viewer, and this needs approver');
    expect((await call('/api/answer', {}, oz.token)).status).toBe(400);
    await shared.close();
  });

  it('guess no faster by trying many passwords at the same time', async () => {
    const file = project.at('guessed-users');
    writeFileSync(file, `${userLine('vera', 'viewer', 'correct horse battery')}\n`, {
      mode: 0o600,
    });
    const access = new Access({ passwordFile: file });
    const guesses = Array.from({ length: 25 }, (_, n) =>
      access.signIn('vera', `guess ${n}`).then(
        () => 'signed in',
        (thrown: Error) => thrown.message,
      ),
    );
    // The first is checked; those behind the longest queue are turned away before it.
    expect(await guesses[24]).toContain('too many people');
    expect(await Promise.race(guesses.slice(0, 20))).toContain('is wrong');
    expect(await Promise.race(guesses.slice(1, 20).concat(Promise.resolve('waiting')))).toBe(
      'waiting',
    );
  });

  it('are not known from a header without the secret of the proxy', () => {
    const file = project.at('secret');
    writeFileSync(file, 's'.repeat(40), { mode: 0o600 });
    const access = new Access({ proxySecretFile: file });
    const told = { 'x-portcullis-user': 'ann', 'x-portcullis-role': 'approver' };
    expect(access.personOf(told)).toBeUndefined();
    expect(access.personOf({ ...told, 'x-portcullis-proxy-secret': 'x' })).toBeUndefined();
    const proven = { ...told, 'x-portcullis-proxy-secret': 's'.repeat(40) };
    expect(access.personOf(proven)).toEqual({ name: 'ann', role: 'approver' });
    expect(access.personOf({ ...proven, 'x-portcullis-role': 'admin' })).toBeUndefined();
  });

  it('are not read from a file that others can read, or that has a broken line', () => {
    const file = project.at('open-users');
    writeFileSync(file, 'a:viewer:x\n', { mode: 0o644 });
    expect(() => new Access({ passwordFile: file })).toThrow(
      'can be read or changed by other users',
    );
    writeFileSync(project.at('broken-users'), 'a:viewer:x\n', { mode: 0o600 });
    expect(() => new Access({ passwordFile: project.at('broken-users') })).toThrow(':1 is not');
  });
});
