import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHeadersHelper, headersFrom } from '../../src/mcp/config/headers-helper.js';
import type { McpScope } from '../../src/mcp/server.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import type { ProcessSupervisor } from '../../src/platform/process/process.js';

let cwd: string;
let processes: ProcessSupervisor;

beforeAll(() => {
  cwd = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-helper-')));
  processes = createProcessSupervisor();
});

afterAll(async () => {
  await processes.killAll();
  rmSync(cwd, { recursive: true, force: true });
});

function helper(
  command: string,
  {
    scope = 'user' as McpScope,
    trusted = true,
    processes: own = processes as Pick<ProcessSupervisor, 'run'>,
  } = {},
) {
  const entry = { url: 'https://mcp.example/mcp', headersHelper: command };
  const env = { PATH: process.env.PATH, HOME: cwd, MY_API_KEY: 'key-of-the-person', EDITOR: 'ed' };
  const made = createHeadersHelper(
    { name: 'tools', scope, entry },
    { processes: own, env, cwd, trusted, platform: 'linux' },
  );
  if (made === undefined) throw new Error('there is none');
  return made();
}

const PRINT_ENV =
  'printf \'{"Name":"%s","Url":"%s","Key":"%s","Where":"%s"}\' "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL" "$MY_API_KEY" "$(pwd)"';

describe('a headers helper', () => {
  it('knows the server, its folder and the credentials of the person who wrote it', async () => {
    expect(await helper(PRINT_ENV)).toEqual({
      ok: true,
      value: {
        Name: 'tools',
        Url: 'https://mcp.example/mcp',
        Key: 'key-of-the-person',
        Where: cwd,
      },
    });
  });

  it('of a project or plugin gets no credentials', async () => {
    for (const scope of ['project', 'plugin', 'agent'] as const) {
      expect(await helper(PRINT_ENV, { scope })).toMatchObject({ ok: true, value: { Key: '' } });
    }
  });

  it('of a folder or a plugin runs only with trust', async () => {
    const never = { run: () => Promise.reject(new Error('it ran')) };
    for (const scope of ['project', 'plugin', 'local', 'agent'] as const) {
      expect(await helper('true', { scope, trusted: false, processes: never })).toEqual({
        ok: false,
        error: 'its headersHelper runs only in a trusted folder',
      });
    }
  });

  it.each([
    ['prints nothing', 'true'],
    ['prints no JSON', 'echo hello'],
    ['prints a list', 'echo "[]"'],
    ['prints a number', 'echo \'{"A": 1}\''],
    ['prints a line break in a value', 'printf \'{"A":"x\\\\ny"}\''],
    ['prints a name that is none', 'echo \'{"A: B":"x"}\''],
    ['fails after printing', 'echo "{}"; exit 3'],
    ['is killed', 'echo "{}"; kill -9 $$'],
    ['does not exist', 'no-such-program-of-ours'],
    ['prints too much', 'head -c 200000 /dev/zero | tr "\\\\0" " "; echo "{}"'],
  ])('that %s gives no headers at all', async (_what, command) => {
    const result = await helper(command);
    expect(result.ok).toBe(false);
  });

  it('quotes nothing of what was printed', async () => {
    const result = await helper('echo SECRET; echo SECRET >&2; exit 1');
    expect(result).toEqual({ ok: false, error: 'its headersHelper failed (exit 1)' });
  });

  it('has 10 seconds', async () => {
    let limit: number | undefined;
    const late = {
      run: (request: Parameters<ProcessSupervisor['run']>[0]) => {
        limit = request.timeoutMs;
        return processes.run({ ...request, timeoutMs: 50 });
      },
    };
    const result = await helper('sleep 20', { processes: late });
    expect(limit).toBe(10_000);
    expect(result).toEqual({ ok: false, error: 'its headersHelper gave no answer within 10 s' });
  });

  it('is absent where the entry has none', () => {
    const entry = { url: 'https://mcp.example/mcp' };
    const deps = { processes, env: {}, cwd, trusted: true, platform: 'linux' };
    expect(createHeadersHelper({ name: 'a', scope: 'user', entry }, deps)).toBeUndefined();
  });

  it('may print an empty object', () => {
    expect(headersFrom('{}\n')).toEqual({ ok: true, value: {} });
  });
});
