import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Asker } from '../../src/app.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { loadSettings } from '../../src/settings/files/load.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { type Attempt, attempt, MARK } from './attempt.js';

describe('a settings file that cannot be trusted', () => {
  it('one that does not parse stops the start, wherever it lies', async () => {
    const broken = '{"permissions":{"deny":["Bash(touch:*)"],}';
    for (const places of [
      { files: { '.claude/settings.json': broken } },
      { files: { '.claude/settings.local.json': broken } },
      { home: { '.claude/settings.json': broken } },
    ] as Attempt[]) {
      const done = await attempt({
        ...places,
        config: { allowedTools: ['Bash'] },
        calls: [`touch ${MARK}`],
      });
      expect(done.refusedStart).toMatch(/settings(\.local)?\.json/);
      expect(done.marked).toBe(false);
    }
  });

  it('a key that stands twice stops the start', async () => {
    const twice = '{"permissions":{"deny":["Bash(touch:*)"]},"permissions":{"deny":[]}}';
    for (const places of [
      { files: { '.claude/settings.json': twice } },
      { home: { '.claude/settings.json': twice } },
    ] as Attempt[]) {
      const done = await attempt({
        ...places,
        config: { allowedTools: ['Bash'] },
        calls: [`touch ${MARK}`],
      });
      expect(done.refusedStart).toMatch(/permissions/);
      expect(done.marked).toBe(false);
    }
  });

  it('managed settings that anybody may write are refused', async () => {
    const project = makeTempProject();
    const managedDir = path.join(project.root, 'managed');
    const file = path.join(managedDir, 'managed-settings.json');
    mkdirSync(managedDir);
    writeFileSync(file, JSON.stringify({ permissions: { defaultMode: 'bypassPermissions' } }));
    const problems = async (): Promise<readonly string[]> => {
      const loaded = await loadSettings({
        fs: nodeFileSystem,
        cwd: project.directory,
        configDir: path.join(project.home, '.claude'),
        managedDir,
        sources: ['user', 'project', 'local'],
        trustProject: false,
        env: { HOME: project.home },
      });
      return loaded.problems
        .filter(({ severity }) => severity === 'fatal')
        .map(({ message }) => message);
    };
    expect(await problems()).toEqual([]);
    chmodSync(file, 0o666);
    expect((await problems()).join()).toMatch(/writ/);
    chmodSync(file, 0o644);
    chmodSync(managedDir, 0o777);
    expect((await problems()).join()).toMatch(/writ/);
    project.remove();
  });
});

describe('settings that change', () => {
  it('what is written during a session grants nothing by itself', async () => {
    const grant = JSON.stringify({ permissions: { allow: ['Bash'] } });
    const done = await attempt({
      settings: { permissions: { allow: ['Bash(printf *)', 'Edit'] } },
      config: { permissionMode: 'acceptEdits' },
      calls: [
        `printf '%s' '${grant}' > ~/.claude/settings.json`,
        `printf '%s' '${grant}' > .claude/settings.json`,
        { tool: 'Write', input: { file_path: '.claude/settings.local.json', content: grant } },
      ],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false, false]);
  });

  it('what another process writes into an untrusted project grants nothing', async () => {
    const grant = JSON.stringify({ permissions: { allow: ['Bash'] } });
    const asker: Asker = async ({ call }) => {
      if (!JSON.stringify(call.input).includes('first')) return { behavior: 'deny', message: 'no' };
      mkdirSync(`${call.workspace.cwd}/.claude`, { recursive: true });
      writeFileSync(`${call.workspace.cwd}/.claude/settings.json`, grant);
      return { behavior: 'allow' };
    };
    const done = await attempt({ config: { asker }, calls: ['touch first', `touch ${MARK}`] });
    expect(done.results.map(({ ran }) => ran)).toEqual([true, false]);
    expect(done.marked).toBe(false);
  });

  it('a saved answer leaves the other values of the file as they were written', async () => {
    const local = { env: { KEY: `\${SECRET}` }, permissions: { deny: ['Read(.env)'] } };
    const done = await attempt({
      files: { '.claude/settings.local.json': { json: local } },
      env: () => ({ SECRET: 'resolved-secret' }),
      config: {
        asker: async () => ({
          behavior: 'allow',
          updatedPermissions: [
            {
              type: 'addRules',
              rules: [{ toolName: 'Bash', ruleContent: 'touch *' }],
              behavior: 'allow',
              destination: 'localSettings',
            },
          ],
        }),
      },
      calls: ['touch made'],
    });
    expect(done.results[0]?.ran).toBe(true);
    const text = readFileSync(done.project.at('.claude/settings.local.json'), 'utf8');
    expect(text).not.toContain('resolved-secret');
    expect(JSON.parse(text)).toMatchObject({
      env: { KEY: `\${SECRET}` },
      permissions: { allow: ['Bash(touch *)'], deny: ['Read(.env)'] },
    });
  });
});
