import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listChildren } from '../../src/platform/process/process-registry.js';
import { type DoctorOptions, doctorText, examineProject } from '../../src/project/doctor/doctor.js';
import { openProject } from '../../src/project/project.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';

const KEY = 'sk-ant-secret-of-the-test-0123456789';
const QUIET = { online: false, run: false, connect: false };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function makeProject(files: ProjectFiles = {}, git = true): TempProject {
  const project = makeTempProject({ files, git });
  open.push({ close: () => project.remove() });
  return project;
}

/** `state: message` of every check, by area. */
async function examine(
  { directory, home }: TempProject,
  {
    env = {},
    trust = 'as it is' as 'as it is' | 'given',
    ...asked
  }: Partial<DoctorOptions> & {
    readonly env?: Readonly<Record<string, string>>;
    readonly trust?: 'as it is' | 'given';
  } = {},
) {
  const project = openProject(directory, {
    env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
    trust,
    trustNotice: 'silent',
  });
  const signal = new AbortController().signal;
  const areas = await examineProject(project, { ...QUIET, signal, ...asked });
  await project.close();
  const checks = areas.flatMap((area) => area.checks);
  for (const { state, remedy } of checks) expect(state === 'ok').toBe(remedy === undefined);
  const text = doctorText(areas);
  expect(text).not.toContain(KEY);
  const lines = Object.fromEntries(
    areas.map((area) => [area.name, area.checks.map((one) => `${one.state}: ${one.message}`)]),
  );
  return { lines, text, checks };
}

describe('portcullis doctor', () => {
  it('finds an empty folder without git fine but for the missing model and instructions', async () => {
    const { lines, text } = await examine(makeProject({}, false));
    expect(lines.Model).toEqual(['problem: No model is configured, so no session can start.']);
    expect(lines.Settings).toEqual(['ok: No settings files; the defaults apply.']);
    expect(lines.Trust).toEqual(['ok: Nothing in this folder needs trust.']);
    expect(lines.Instructions).toEqual(['warning: No instruction files.']);
    expect(lines.Programs?.join('\n')).toMatch(/ok: Node \d+\.\d+[\s\S]*ok: bash \d/);
    expect(text).toContain('✗ problem  No model');
    expect(text).toMatch(/\n1 problem, 1 warning\.\n$/);
  });

  it('sends a request only when asked to, and never shows the key', async () => {
    const server = await startFakeModelServer({ script: ['ok'] });
    open.push(server);
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
    const quiet = await examine(makeProject(), { env });
    expect(quiet.lines.Model?.[0]).toMatch(
      /^ok: anthropic at .*with a key \(from the environment\)/,
    );
    expect(server.requests).toHaveLength(0);
    const online = await examine(makeProject(), { env, online: true });
    expect(online.lines.Model?.[1]).toMatch(/^ok: .* answered\.$/);
    expect(server.requests).toHaveLength(1);
    const wrong = { ...env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const failed = await examine(makeProject(), { env: wrong, online: true });
    expect(failed.lines.Model?.[1]).toMatch(/^problem: The model does not answer/);
  });

  it('names file and line of what is wrong in settings, and checks the rest all the same', async () => {
    const broken = await examine(makeProject({ '.claude/settings.json': '{\n  "env": {},\n}' }));
    expect(broken.lines.Settings?.[0]).toMatch(
      /^problem: \.claude\/settings\.json:3: .*not valid JSON/,
    );
    expect(broken.lines.Instructions?.[0]).toMatch(/^warning: Not checked/);
    expect(broken.lines.Disk?.[0]).toMatch(/^ok: State/);
    const misspelt = await examine(
      makeProject({
        '.claude/settings.json': '{\n"modle": "x",\n"permissions": {"deny": ["Bsah(x)"]}}',
      }),
    );
    expect(misspelt.lines.Settings).toContain(
      'warning: .claude/settings.json:2: `modle` is not a setting.',
    );
    expect(misspelt.text).toContain('→ Did you mean model?');
    expect(misspelt.lines.Settings?.join('\n')).toMatch(
      /problem: \.claude\/settings\.json:3:.*Bsah/,
    );
  });

  it('finds rules that a stricter rule keeps from ever deciding', async () => {
    const permissions = {
      allow: ['Bash(npm test)', 'Bash(git push origin *)', 'Read(./.env)', 'Bash(npm run *)'],
      ask: ['Bash(npm publish *)', 'Bash(git commit *)'],
      deny: ['Bash(git push *)', 'Read(.env)', 'Bash(npm publish *)'],
    };
    const project = makeProject({ '.claude/settings.json': { json: { permissions } } });
    const { lines } = await examine(project, { trust: 'given' });
    const dead = (lines.Settings ?? []).flatMap(
      (one) => /rule (\S.*) has no effect/.exec(one)?.[1] ?? [],
    );
    expect(dead).toEqual(['Bash(git push origin *)', 'Read(./.env)', 'Bash(npm publish *)']);
  });

  it('tells what waits for trust, and what changed since', async () => {
    const settings = (rule: string) => JSON.stringify({ permissions: { allow: [rule] } });
    const project = makeProject({ '.claude/settings.json': settings('Bash(npm test)') });
    expect((await examine(project)).lines.Trust?.[0]).toMatch(
      /^warning: This folder is not trusted/,
    );
    const opened = openProject(project.directory, { env: { HOME: project.home } });
    await opened.folderTrust.accept(await opened.folderTrust.check(), { store: true });
    expect((await examine(project)).lines.Trust?.[0]).toMatch(/^ok: This folder is trusted/);
    project.write('.claude/settings.json', settings('Bash(npm run *)'));
    expect((await examine(project)).lines.Trust?.[0]).toMatch(
      /^warning: Off, because (new|changed) since the folder was trusted: 1 allow rule/,
    );
  });

  it('finds hooks whose program is missing or not executable, and asks them only with run', async () => {
    const hook = (command: string) => ({
      matcher: 'Bash',
      hooks: [{ type: 'command', command }],
    });
    const groups = [
      hook('"$CLAUDE_PROJECT_DIR"/.claude/hooks/plain.sh'),
      hook('bash .claude/hooks/nosuch.sh'),
      hook('no-such-program --check | cat'),
      hook('touch asked; exit 0'),
      hook('if true; then exit 0; fi'),
    ];
    const project = makeProject({
      '.claude/settings.json': { json: { hooks: { PreToolUse: groups } } },
      '.claude/hooks/plain.sh': { text: '#!/bin/sh\n', mode: 0o644 },
    });
    const held = await examine(project);
    expect(held.lines.Hooks).toEqual([expect.stringMatching(/^warning: 5 hooks not asked: /)]);
    const quiet = await examine(project, { trust: 'given' });
    expect(quiet.lines.Hooks?.map((one) => one.replace(/^(\w+): .*\): /, '$1: '))).toEqual([
      expect.stringMatching(/^problem: .*plain\.sh is not executable\.$/),
      'problem: .claude/hooks/nosuch.sh was not found.',
      'problem: no-such-program was not found.',
      expect.stringMatching(/^ok: /),
      expect.stringMatching(/^ok: /),
    ]);
    expect(project.exists('asked')).toBe(false);
    const run = await examine(project, { trust: 'given', run: true });
    expect(run.lines.Hooks?.join('\n')).toMatch(/ok: .*touch asked.* answered in \d+ ms/);
    expect(project.exists('asked')).toBe(true);
  });

  it('finds MCP servers that wait or whose program is missing, and connects only with connect', async () => {
    const servers = {
      gone: { command: 'no-such-server' },
      here: { command: 'node', args: ['-e', ''] },
    };
    const project = makeProject({ '.mcp.json': { json: { mcpServers: servers } } });
    expect((await examine(project)).lines['MCP servers']).toEqual([
      expect.stringMatching(/^warning: gone \(project\)/),
      expect.stringMatching(/^warning: here \(project\)/),
    ]);
    const opened = openProject(project.directory, { env: { HOME: project.home } });
    for (const server of await opened.pendingServers()) await server.approve();
    expect((await examine(project)).lines['MCP servers']).toEqual([
      expect.stringMatching(
        /^problem: gone \(project, \.mcp\.json\): no-such-server was not found/,
      ),
      expect.stringMatching(/^ok: here/),
    ]);
    const connected = await examine(project, { connect: true });
    expect(connected.lines['MCP servers']).toEqual([
      expect.stringMatching(/^problem: .*"gone"/),
      expect.stringMatching(/^problem: .*"here"/),
    ]);
  });

  it('names includes that fail', async () => {
    const { lines } = await examine(makeProject({ 'CLAUDE.md': 'Read @docs/nosuch.md first.\n' }));
    expect(lines.Instructions).toEqual([
      expect.stringMatching(/^ok: CLAUDE\.md, about \d+ tokens$/),
      expect.stringMatching(/^warning: .*docs\/nosuch\.md, included by CLAUDE\.md, was not read/),
    ]);
  });

  it('warns of state that others may read, and of processes and locks of sessions that are gone', async () => {
    const project = makeProject();
    const state = path.join(project.home, '.portcullis');
    const child = spawn('sleep', ['60'], { detached: true });
    open.push({ close: () => child.kill() });
    mkdirSync(path.join(state, 'children'), { recursive: true, mode: 0o700 });
    const children = [
      { pid: child.pid, label: 'Bash: sleep 60', kind: 'shell', since: Date.now() },
    ];
    const entry = { owner: { pid: 2 ** 22 + 1 }, children };
    writeFileSync(path.join(state, 'children/1.a.json'), JSON.stringify(entry), { mode: 0o600 });
    expect(listChildren(state)).toHaveLength(1);
    mkdirSync(path.join(state, 'x.lock'), { mode: 0o700 });
    writeFileSync(path.join(state, 'x.lock/1'), '{"pid":4194305}\n', { mode: 0o600 });
    writeFileSync(path.join(state, 'open.json'), '{}');
    chmodSync(path.join(state, 'open.json'), 0o644);
    const { lines } = await examine(project);
    expect(lines['Earlier sessions']).toEqual([
      `warning: Process ${child.pid} (Bash: sleep 60) still runs; its session is gone.`,
      expect.stringMatching(/^ok: .*x\.lock: its process is gone/),
    ]);
    expect(lines.Disk?.join('\n')).toMatch(/warning: Other users .*open\.json\./);
  });
});
