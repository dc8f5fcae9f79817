import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentBook } from '../../src/agents/definitions/definitions.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { startTrust } from '../../src/settings/trust/project-trust.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { agentText } from './definitions-rig.js';

let project: TempProject;
beforeEach(() => {
  project = makeTempProject({});
});
afterEach(() => project.remove());

/** The agents of a session that was started with or without `--trust`. */
async function started({ given }: { given: boolean }) {
  const configDir = path.join(project.home, '.claude');
  const sources = ['user', 'project', 'local'] as const;
  const trust = await startTrust({
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir,
    stateDirectory: path.join(project.root, 'state'),
    sources,
    given,
    env: {},
    now: () => 0,
    warn: () => undefined,
  });
  const book = new AgentBook({
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir,
    managedDir: path.join(project.root, 'managed'),
    sources,
    additionalDirectories: () => [],
    trusts: (_directory, used) => trust.covers(used),
  });
  return { book, trust };
}

const mine = (): void => {
  const directory = path.join(project.home, '.claude/agents');
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'rev.md'), agentText('rev', 'mine'));
};

describe('--trust in a folder where nothing needs trust', () => {
  it('puts the project before the user', async () => {
    mine();
    project.write('.claude/agents/rev.md', agentText('rev', 'project'));
    const { book } = await started({ given: true });
    expect(await book.find('rev')).toMatchObject({ description: 'project', trusted: true });
    expect(await book.problems()).toEqual([]);
  });

  it('is not there by itself, and how to give it is said', async () => {
    mine();
    project.write('.claude/agents/rev.md', agentText('rev', 'project'));
    const { book } = await started({ given: false });
    expect((await book.find('rev'))?.description).toBe('mine');
    expect((await book.problems()).map(({ message }) => message)).toEqual([
      expect.stringContaining('start with --trust'),
    ]);
  });

  it('is not given to what settings say later, nor to a folder that comes later', async () => {
    const { trust } = await started({ given: true });
    project.write('.claude/agents/rev.md', agentText('rev', 'project'));
    expect([await trust.covers(), await trust.inForce()]).toEqual([false, false]);
    const other = await started({ given: true });
    expect([await other.trust.covers(), await other.trust.inForce()]).toEqual([true, false]);
    project.write('.claude/settings.json', '{"permissions":{"allow":["Bash"]}}');
    expect(await other.trust.covers()).toBe(false);
  });

  it('ends with the first agent that asks for more than was there', async () => {
    mine();
    project.write('.claude/agents/rev.md', agentText('rev', 'project'));
    const { book } = await started({ given: true });
    await book.list();
    const more = 'permissionMode: acceptEdits\n';
    project.write('.claude/agents/rev.md', agentText('rev', 'project', more));
    expect((await book.find('rev'))?.description).toBe('mine');
  });
});

describe('an agent file that is too large', () => {
  const large = (name: string): string => `${agentText(name)}${'x'.repeat(4 * 1024 * 1024)}`;

  it('is named, and the rest of a trusted folder goes on', async () => {
    project.write('.claude/agents/a.md', agentText('a', 'a', 'permissionMode: acceptEdits\n'));
    project.write('.claude/agents/large.md', large('large'));
    const { book } = await started({ given: true });
    expect(await book.find('a')).toMatchObject({ permissionMode: 'acceptEdits', trusted: true });
    const [problem, ...more] = await book.problems();
    expect(problem).toMatchObject({ name: 'large', message: expect.stringContaining('larger') });
    expect(more).toEqual([]);
    expect(await book.resolve('large')).toMatchObject({ ok: false });
  });

  it('is judged by its text once it is small enough to be used', async () => {
    project.write('.claude/agents/a.md', agentText('a', 'a', 'memory: project\n'));
    project.write('.claude/agents/large.md', large('large'));
    const { book } = await started({ given: true });
    await book.list();
    const more = 'permissionMode: bypassPermissions\n';
    project.write('.claude/agents/large.md', agentText('large', 'large', more));
    const found = await book.find('large');
    expect(found?.trusted).toBe(false);
    expect(found?.permissionMode).toBeUndefined();
  });
});
