import { symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'links/c': 'c',
      'sub/deep/secret': 's',
      'other/a.ts': 'a',
      'other/b.sh': 'b',
      '.hidden/secret': 's',
    },
  });
  symlinkSync(project.at('sub'), project.at('other/link'));
  symlinkSync(project.at('sub/deep/secret'), project.at('links/file.lnk'));
});
afterAll(() => project.remove());

const judge = (command: string) => {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, allow: ['Bash'], deny: ['Read(sub/deep/secret)'] }).bash(command);
};

describe('a directory that find hands to a command', () => {
  it.each([
    'find . -name sub -exec mytool {} +',
    'find . -name deep -exec mytool {} +',
    'find . -iname SUB -exec mytool {} +',
    'find . -type d -exec mytool {} +',
    'find . -type d,l -exec mytool {} +',
    'find . ! -type f -exec mytool {} +',
    'find . -name . -exec mytool {} +',
    'find sub -name sub -exec mytool {} +',
    'find sub/ -name sub -execdir mytool {} ";"',
    'find s* -name sub -exec mytool {} +',
    'find -L other -name link -exec mytool {} +',
    'find -L other -type d -name link -exec mytool {} +',
    'find . -name sub -exec rm -rf {} +',
    'find links -name file.lnk -exec mytool {} +',
    'find links -name file.lnk -exec cat {} +',
    'find . -name sub -exec grep -r k {} +',
    'find . -name x -delete -o -name sub -exec mytool {} +',
  ])('is held to rules about all that is in it: %s', async (command) => {
    expect(await judge(command)).not.toBe('runs');
  });

  it.each([
    'find . -name other -exec mytool {} +',
    'find . -type f -name "*.ts" -exec mytool {} +',
    'find . -type d -name sub -exec ls {} +',
    'find . -type d -empty -delete',
    'find other -type d -exec mytool {} +',
    'find . -name sub -prune -o -name secret -exec mytool {} +',
    'find . -maxdepth 1 -name secret -exec mytool {} +',
  ])('and not to others: %s', async (command) => {
    expect(await judge(command)).toBe('runs');
  });
});

describe('what fd runs for what it finds', () => {
  it.each(['fd -Ix mytool', 'fd -IX mytool', 'fd -Ixmytool', 'fd --exec=mytool'])(
    'is held to rules about all of it: %s',
    async (command) => {
      expect(await judge(command)).not.toBe('runs');
    },
  );

  it('is judged with the options that stand in the same word', async () => {
    const { directory: cwd, home } = project;
    const rig = gateRig({ cwd, home, allow: ['Bash'], deny: ['Read(.hidden/secret)'] });
    expect(await rig.bash('fd -Hx mytool')).not.toBe('runs');
    expect(await rig.bash('fd -ix mytool')).toBe('runs');
  });

  it.each(['fd -etxt', 'fd -e ts -x mytool', 'fd -tx a'])('and not to others: %s', async (one) => {
    expect(await judge(one)).toBe('runs');
  });
});
