import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProject } from '../../src/project/project.js';

describe('openProject', () => {
  it('reads settings, rules, servers, skills and agents of a directory', async () => {
    const { cwd, env } = fixture();
    const project = openProject(cwd, { env });
    const { settings, trusted } = await project.settings();
    expect(settings.permissions.deny.map(({ value }) => value.text)).toEqual(['Read(./secret)']);
    expect(trusted).toBe(false);
    expect((await project.rules()).problems).toEqual([]);
    expect((await project.mcp()).configuration.servers.map(({ name }) => name)).toEqual(['probe']);
    expect((await (await project.skills()).book.all()).map(({ name }) => name)).toContain('deploy');
    expect((await (await project.agents()).book.list()).map(({ name }) => name)).toContain(
      'reviewer',
    );
    await project.close();
  });

  it('trusts the folder when trust is given, and warns of what waits for it otherwise', async () => {
    const { cwd, env } = fixture({ allow: ['Bash(npm test)'] });
    const warnings: string[] = [];
    const plain = openProject(cwd, { env, warn: (text) => warnings.push(text) });
    expect((await plain.settings()).trusted).toBe(false);
    expect(warnings).toHaveLength(1);
    const given = openProject(cwd, { env, trust: 'given', warn: (text) => warnings.push(text) });
    expect((await given.settings()).trusted).toBe(true);
    const silent = openProject(cwd, { env, trustNotice: 'silent', warn: (t) => warnings.push(t) });
    await silent.settings();
    expect(warnings).toHaveLength(1);
  });

  it('loads each member once', async () => {
    const project = openProject(fixture().cwd, { env: fixture().env });
    expect(project.settings()).toBe(project.settings());
    expect(await project.mcp()).toBe(await project.mcp());
  });

  it('names the servers that wait for an answer, and keeps the answer', async () => {
    const { cwd, env } = fixture();
    const [server] = await openProject(cwd, { env }).pendingServers();
    expect(server).toMatchObject({ name: 'probe', details: ['command: true'] });
    await server?.approve();
    expect(await openProject(cwd, { env }).pendingServers()).toEqual([]);
  });

  it('opens tools and gate of a session without a conversation, and closes them', async () => {
    const { cwd, env } = fixture();
    const project = openProject(cwd, { env });
    const { parts } = await project.sessionParts({
      entrypoint: 'test',
      asksModel: false,
      emit: () => undefined,
    });
    expect(parts.toolRuntime.builtins.pool.resolve('Read')?.name).toBe('Read');
    const block = { type: 'tool_use', id: 'call_1', name: 'Read', input: { file_path: 'secret' } };
    const { signal } = new AbortController();
    const result = await parts.toolRuntime.invoke(block as never, undefined, signal);
    expect(result.block.is_error).toBe(true);
    await project.close();
  });

  it('removes the files of bundled skills when it is closed, and opens none without being asked', async () => {
    const { cwd, env } = fixture();
    const count = (): number =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('portcullis-skills-')).length;
    const before = count();
    const project = openProject(cwd, { env });
    await project.settings();
    await project.mcp();
    expect(count()).toBe(before);
    const { book } = await project.skills();
    for (const skill of await book.all()) await skill.body();
    await project.close();
    expect(count()).toBe(before);
  });
});

function fixture(permissions: { allow?: readonly string[] } = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'project-'));
  const cwd = path.join(root, 'work');
  const write = (name: string, text: string): void => {
    const file = path.join(cwd, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const deny = ['Read(./secret)'];
  write('.claude/settings.json', JSON.stringify({ permissions: { deny, ...permissions } }));
  write('.claude/skills/deploy/SKILL.md', '---\ndescription: Deploys.\n---\nDo it.\n');
  write('.claude/agents/reviewer.md', '---\nname: reviewer\ndescription: Reviews.\n---\nLook.\n');
  write('.mcp.json', JSON.stringify({ mcpServers: { probe: { command: 'true' } } }));
  const env = {
    HOME: root,
    CLAUDE_CONFIG_DIR: path.join(root, 'config'),
    PORTCULLIS_HOME: path.join(root, 'state'),
  };
  return { cwd, env };
}
