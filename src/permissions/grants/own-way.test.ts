import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a',
      'plain/x': 'x',
      'd/k.txt': 'k',
      'd/up': { symlink: '../..' },
      'names/-R': '',
      'names/b.txt': 'b',
      'lists/@x': '/etc/hostname',
      '.env': 'SECRET=1',
    },
  });
});
afterAll(() => project.remove());

const bash = (command: string, options: Partial<RigOptions> = {}) =>
  gateRig({ cwd: project.directory, home: project.home, ...options }).bash(command);

describe('awk', () => {
  it.each([
    'awk 1 -F /etc/hostname',
    "awk '{print}' a.txt -v ../x",
    'gawk 1 a.txt --assign /etc/hostname',
    'mawk 1 a.txt --field-separator ../x',
  ])('takes what stands behind its script for a file: %s', async (command) => {
    expect(await bash(command)).toBe('asks');
  });

  it('is held to a rule about such a file', async () => {
    const rules = { allow: ['Bash'], deny: ['Read(.env)'] };
    expect(await bash('awk 1 -F .env', rules)).toBe('denied');
  });

  it.each(["awk -F: '{print $1}' a.txt", 'awk -v x=1 1 a.txt x=2'])('runs: %s', async (command) => {
    expect(await bash(command)).toBe('runs');
  });
});

describe('a pattern that stands for a name like an option', () => {
  it.each([
    ['names', 'grep x *'],
    ['names', 'grep x [-]R'],
    ['names', 'wc ?R'],
    ['lists', 'strings *'],
  ])('is asked about in %s: %s', async (directory, command) => {
    expect(await bash(`cd ${directory} && ${command}`)).toBe('asks');
  });

  it.each([
    ['names', 'grep x ./*'],
    ['names', 'grep x b*'],
    ['plain', 'grep x *'],
    ['.', 'grep x names/*'],
  ])('runs where it cannot be one, in %s: %s', async (directory, command) => {
    expect(await bash(`cd ${directory} && ${command}`)).toBe('runs');
  });
});

describe('a path through what the same line moves or copies', () => {
  it.each([
    'mv d d2 && touch d2/up/x',
    'cp -r d d3; echo x > d3/up/x',
    'mv d d2 && mv d2 d3 && touch d3/up/x',
    'mv d d2; cd d2; touch up/x',
    'mkdir n; mv d n; touch n/d/up/x',
    'cp -a d/* plain && cat plain/up/x',
  ])('is asked about where a link is among it: %s', async (command) => {
    expect(await bash(command, { mode: 'acceptEdits' })).toBe('asks');
  });

  it('is asked about under a rule that may be about what is there', async () => {
    const rules = { allow: ['Bash'], deny: ['Read(//etc/shadow)'] };
    expect(await bash('mv d d2 && cat d2/up/x', rules)).toBe('asks');
    expect(await bash('mv plain p2 && cat p2/x', rules)).toBe('runs');
  });

  it.each([
    'mv plain p2 && touch p2/y',
    'cp -r plain p3 && mv p3 p4 && cat p4/x',
    'cp a.txt plain && cat plain/a.txt',
    'mv d d2 && ls',
  ])('runs where none is: %s', async (command) => {
    expect(await bash(command, { mode: 'acceptEdits' })).toBe('runs');
  });
});
