import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

describe('names that one command gives to another', () => {
  let project: TempProject;
  beforeAll(() => {
    project = makeTempProject({ files: { 'src/x.ts': 'x', 'secret/key': 'k' } });
  });
  afterAll(() => project.remove());
  const rig = (allow: readonly string[], deny: readonly string[] = []) =>
    gateRig({ cwd: project.directory, home: project.home, allow, deny });
  const hidden = ['Read(./secret/**)'];

  it.each([
    "find src -name '*.ts' | xargs cat",
    "find src -name '*.ts' -print0 | xargs -0 cat",
    "find src -name '*.ts' | xargs grep x",
    "find src -name '*.ts' | xargs pr",
    "find src -name '*.ts' | xargs -n 1 bat",
    "find src -name '*.ts' | xargs -I X fold X",
    "find src -name '*.ts' | xargs node show.js",
    "find src -name '*.ts' | timeout 5 xargs some-tool",
    "find src -name '*.ts' | parallel md5sum",
    'xargs -a list some-tool',
    'pr $(find src)',
    'F=x; paste "$F"',
  ])('are asked about where a rule hides files: %s', async (command) => {
    expect(await rig(['Bash'], hidden).bash(command)).toBe('asks');
    expect(await rig(['Bash']).bash(command)).toBe('runs');
  });

  it.each([
    "find src -name '*.ts' | xargs ls -l",
    "find src -name '*.ts' | xargs -n 1 basename",
    "find src -name '*.ts' | xargs",
    'pgrep x | xargs kill',
    'git branch --merged | xargs git branch -d',
    'docker ps -q | xargs docker stop',
  ])('are none of files that are read: %s', async (command) => {
    expect(await rig(['Bash'], hidden).bash(command)).toBe('runs');
  });

  it('stay open to a rule for the program where nothing is hidden', async () => {
    const command = "find . -name '*.ts' | xargs grep foo";
    expect(await rig(['Bash(grep:*)']).bash(command)).toBe('runs');
    expect(await rig(['Bash(grep:*)'], hidden).bash(command)).toBe('asks');
  });
});
