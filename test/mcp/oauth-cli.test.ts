import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OAuthRig, startRig } from './oauth-rig.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DRIVER =
  "import('./scripts/setup.mjs').then((it) => it.runTypeScript('test/mcp/oauth-cli.ts'))";
let rig: OAuthRig;

beforeAll(async () => {
  rig = await startRig();
  const entry = { type: 'http', url: rig.server.url };
  const servers = {
    guarded: entry,
    fixed: { ...entry, headers: { Authorization: 'Bearer SECRET-static' } },
    local: { command: 'true' },
  };
  writeFileSync(path.join(rig.directory, '.claude.json'), JSON.stringify({ mcpServers: servers }));
  // A "browser" that goes where it is sent, and to our listener from there.
  const bin = path.join(rig.directory, 'bin');
  mkdirSync(bin);
  const browser = `#!${process.execPath}\nfetch(process.argv[2]).then((page) => process.exit(page.ok ? 0 : 1));\n`;
  writeFileSync(path.join(bin, 'xdg-open'), browser);
  chmodSync(path.join(bin, 'xdg-open'), 0o755);
});

afterAll(async () => {
  await rig.stop();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function command(
  argv: readonly string[],
  options: {
    env?: Record<string, string>;
    onText?: (text: string, child: ChildProcessWithoutNullStreams) => void;
  } = {},
): Promise<Ended> {
  const { directory } = rig;
  const child = spawn(process.execPath, ['--input-type=module', '-e', DRIVER], {
    cwd: ROOT,
    env: {
      PATH: `${path.join(directory, 'bin')}:${process.env.PATH}`,
      HOME: directory,
      PORTCULLIS_HOME: path.join(directory, 'state'),
      TEST_ARGV: argv.join('\n'),
      ...options.env,
    },
  });
  return new Promise((resolve) => {
    let out = '';
    let err = '';
    const hear = (): void => options.onText?.(out + err, child);
    child.stdout.on('data', (chunk) => {
      out += chunk;
      hear();
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
      hear();
    });
    if (options.onText === undefined) child.stdin.end();
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

describe('portcullis mcp auth', () => {
  it('signs in with a browser, shows no token, and logout forgets it', async () => {
    const signedIn = await command(['auth', 'guarded', '--json']);
    expect(signedIn.err).toContain('/authorize?');
    expect(signedIn).toMatchObject({ code: 0, out: '{"name":"guarded","status":"signed-in"}\n' });
    expect(signedIn.out + signedIn.err).not.toContain('SECRET');
    const logout = await command(['logout', 'guarded']);
    expect(logout).toMatchObject({ code: 0, out: 'Signed out of "guarded".\n' });
    const again = await command(['logout', 'guarded', '--json']);
    expect(again).toMatchObject({ code: 0, out: '{"name":"guarded","signedOut":false}\n' });
  });

  it('signs in without one, by copy and paste', async () => {
    let isPasted = false;
    const done = await command(['auth', 'guarded', '--no-browser'], {
      onText(text, child) {
        const page = /^(http\S+\/authorize\S+)$/m.exec(text)?.[1];
        if (isPasted || page === undefined || !text.includes('Paste')) return;
        isPasted = true;
        void fetch(page, { redirect: 'manual' }).then((response) =>
          child.stdin.end(`${response.headers.get('location')}\n`),
        );
      },
    });
    expect(done.err).toBe('');
    expect(done.code).toBe(0);
    expect(done.out).toContain('Signed in to "guarded".');
  });

  it('says why it failed', async () => {
    const done = await command(['auth', 'guarded', '--no-browser', '--json']);
    expect(done.code).toBe(1);
    expect(JSON.parse(done.out)).toEqual({
      name: 'guarded',
      status: 'failed',
      error: 'MCP server "guarded" could not be authorized: nothing was pasted.',
    });
  });

  it('is not for agents, other transports, or entries with a header of their own', async () => {
    const agent = await command(['auth', 'guarded'], { env: { PORTCULLIS: '1' } });
    expect(agent).toMatchObject({ code: 2 });
    expect(agent.err).toContain('only a person may run mcp auth');
    expect((await command(['auth', 'local'])).err).toContain('stdio server, which has no sign-in');
    const fixed = await command(['auth', 'fixed']);
    expect(fixed.err).toContain('has an Authorization header');
    expect(fixed.err).not.toContain('SECRET');
    expect((await command(['auth', 'guardd'])).err).toContain('did you mean "guarded"');
  });
});
