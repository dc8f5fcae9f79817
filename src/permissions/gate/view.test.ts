import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { ToolSubject } from '../../tools/tool.js';
import { NO_RULES } from '../rules/rules.js';
import type { GateCall } from './types.js';
import { viewOf } from './view.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': '', 'b.txt': '', l: { symlink: '/etc' } } });
});
afterAll(() => project.remove());

function seen(subject: Partial<ToolSubject>) {
  const { directory, home } = project;
  const call = {
    tool: { name: 'T', aliases: ['U'] },
    subject: { paths: [], summary: '', ...subject },
    workspace: { cwd: directory, roots: [directory] },
  } as unknown as GateCall;
  return viewOf(call, { fs: nodeFileSystem, home, mode: 'default', rules: NO_RULES });
}

describe('what a call touches', () => {
  it('is each path in its order, with every other reading behind it', async () => {
    const read = (name: string) => ({ path: project.at(name), access: 'read' as const });
    const written = { path: project.at('file:/etc/group'), access: 'write' as const };
    const all = [read('a.txt'), read('@/etc/passwd'), read('b.txt'), written, read('@~/k')];
    const found = await seen({ paths: all }).paths();
    expect(found.map(({ access, spellings }) => [access, spellings.literal])).toEqual([
      ['read', project.at('a.txt')],
      ['read', project.at('@/etc/passwd')],
      ['read', '/etc/passwd'],
      ['read', project.at('b.txt')],
      ['write', project.at('file:/etc/group')],
      ['write', '/etc/group'],
      ['read', project.at('@~/k')],
      ['read', `${project.home}/k`],
    ]);
  });

  it('is looked up once, and known to whoever asks later', async () => {
    const view = seen({ paths: [{ path: project.at('l/x'), access: 'read' }] });
    expect(view.pathsFound()).toBeUndefined();
    const found = await view.paths();
    expect(found[0]?.spellings.real).toBe('/etc/x');
    expect(view.pathsFound()).toBe(found);
    expect(await view.paths()).toBe(found);
  });

  it('is the same of two calls of which one names a path besides', async () => {
    const paths = [{ path: project.at('a.txt'), access: 'read' as const }];
    const [one] = await seen({ paths }).paths();
    const both = await seen({ paths: [...paths, { path: '/etc', access: 'write' }] }).paths();
    expect(both[0]).toEqual(one);
    expect(both).toHaveLength(2);
  });
});

describe('shell code', () => {
  it('is nothing where a call runs none', async () => {
    const view = seen({ paths: [{ path: project.at('a.txt'), access: 'read' }] });
    expect(await view.shell()).toBeUndefined();
    expect(view.commandRead()).toBeUndefined();
    expect(await view.mentionedPaths()).toEqual([]);
    expect(await view.shellPaths()).toEqual({ paths: [], mayWrite: [] });
    expect(view.names).toEqual(['T', 'U']);
  });

  it('is read once, empty or not', async () => {
    for (const command of ['cat a.txt', '']) {
      const view = seen({ command });
      expect(view.commandRead()).toBeUndefined();
      expect(await view.shell()).toBeDefined();
      expect(view.shell()).toBe(view.shell());
      expect(view.commandRead()).toBe(command);
    }
    const { paths } = await seen({ command: 'cat a.txt' }).shellPaths();
    expect(paths.map(({ spellings }) => spellings.literal)).toContain(project.at('a.txt'));
  });
});
