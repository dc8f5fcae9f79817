import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { '.env': 'e', 'a.txt': 'a', '.claude/settings.json': '{}', 'dir/.env.local': 'e' },
  });
});
afterAll(() => project.remove());

const judge = (command: string) => {
  const { directory: cwd, home } = project;
  const deny = ['Edit(.env)', 'Read(dir/**)'];
  return gateRig({ cwd, home, allow: ['Bash'], deny }).bash(command);
};

describe('a pattern, also behind a redirection,', () => {
  it.each(['echo x > .en?', 'echo x >> .e*', 'echo x > .[e]nv', 'cat < dir/.env*'])(
    'is held to rules about the files that it fits: %s',
    async (command) => {
      expect(await judge(command)).toBe('denied');
    },
  );

  it.each(['echo {} > .clau?e/settings.json', 'cp a.txt .c*/settings.json', 'rm .[c]laude/s*'])(
    'is held to protected paths: %s',
    async (command) => {
      const { directory: cwd, home } = project;
      expect(await gateRig({ cwd, home, allow: ['Bash'] }).bash(command)).toBe('asks');
    },
  );

  it.each(['shopt -s dotglob; cat *', 'GLOBIGNORE=x; cat *', "bash -O dotglob -c 'cat *'"])(
    'is not followed where its meaning is changed: %s',
    async (command) => {
      const { directory: cwd, home } = project;
      const rig = gateRig({ cwd, home, allow: ['Bash'], deny: ['Read(.env)'] });
      expect(await rig.bash(command)).toBe('asks');
      expect(await rig.bash('cat *')).toBe('runs');
    },
  );

  it.each([
    'cat .*/a.txt',
    'cat .?/x',
    'cat .[.]/x',
    'cat dir/.*',
    'echo x > .?/out',
    'rm -rf .?/z*',
  ])('that some shells fit the directory above with is asked about: %s', async (command) => {
    const { directory: cwd, home } = project;
    const rig = gateRig({ cwd, home, allow: ['Bash'], deny: ['Read(a.txt)'] });
    expect(await rig.bash(command)).not.toBe('runs');
    expect(await gateRig({ cwd, home }).bash('cat .?/.?/etc/passwd')).toBe('asks');
    expect(await rig.bash('cat .??*/settings.json')).toBe('runs');
  });

  it('that fits nothing held back is allowed', async () => {
    expect(await judge('echo x > a.*')).toBe('runs');
  });
});
