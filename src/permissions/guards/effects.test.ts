import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { parseRules } from '../rules/rules.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a\n', 'dir-out': { symlink: '..' } } });
});
afterAll(() => project.remove());

const outcome = (tool: string, input: Record<string, unknown>, options: Partial<RigOptions>) =>
  gateRig({ cwd: project.directory, home: project.home, ...options }).outcome(tool, input);
const bash = (command: string) => ['Bash', { command }] as const;
const OUTSIDE = { ask: ['Effect(writes:outside)'], allow: ['Bash', 'Edit', 'Write'] };

describe('rules about effects', () => {
  it.each([
    [...bash('cat a.txt'), OUTSIDE, 'runs'],
    [...bash('echo x > a.txt'), OUTSIDE, 'runs'],
    [...bash('echo x > ../b.txt'), OUTSIDE, 'asks'],
    [...bash('cp a.txt dir-out/b.txt'), OUTSIDE, 'asks'],
    [...bash('echo x > "$WHERE"'), OUTSIDE, 'asks'],
    ['Write', { file_path: 'b.txt' }, OUTSIDE, 'runs'],
    ['Write', { file_path: 'dir-out/b.txt' }, OUTSIDE, 'asks'],
    [
      'Write',
      { file_path: '../b.txt' },
      { deny: ['Effect(writes:outside)'], allow: ['Write'] },
      'denied',
    ],
    [...bash('npm test'), { deny: ['Effect(writes)'], allow: ['Bash'] }, 'asks'],
    [...bash('touch b.txt'), { deny: ['Effect(writes)'], allow: ['Bash'] }, 'denied'],
    [...bash('ls'), { deny: ['effect(Writes)'], allow: ['Bash'] }, 'runs'],
    [...bash('rm a.txt'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'denied'],
    [...bash('find . -name x -delete'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'denied'],
    [...bash('git clean -fd'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'denied'],
    [...bash('touch b.txt'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'runs'],
    [...bash('cd . && ls | wc -l'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'runs'],
    [
      ...bash('python3 clean.py'),
      { deny: ['Effect(deletes)'], allow: ['Bash(python3 *)'] },
      'asks',
    ],
    [...bash('npm test'), { deny: ['Effect(deletes)'], allow: ['Bash'] }, 'asks'],
    [...bash('make install'), { deny: ['Effect(writes:outside)'], allow: ['Bash'] }, 'asks'],
    [...bash('xargs cat < a.txt'), OUTSIDE, 'asks'],
    ['mcp__srv__do', {}, { ask: ['Effect(writes)'], allow: ['mcp__srv'] }, 'asks'],
    ['Read', { file_path: 'a.txt' }, { deny: ['Effect(writes)'] }, 'runs'],
    [
      ...bash('rm "$X" a.txt'),
      { deny: ['Effect(writes:outside)', 'Effect(deletes)'], allow: ['Bash'] },
      'denied',
    ],
  ] as const)('%s %j with %j: %s', async (tool, input, options, expected) => {
    expect(await outcome(tool, input, options)).toBe(expected);
  });

  it.each([
    ['allow', 'Effect(writes)'],
    ['deny', 'Effect'],
    ['deny', 'Effect(write)'],
    ['ask', 'Effect(*)'],
  ] as const)('%s %s is a mistake that is told', (kind, text) => {
    const origin = {
      value: { text, root: '/p' },
      source: 'user',
      file: '/u.json',
      line: 1,
    } as const;
    const none = { allow: [], ask: [], deny: [] };
    const { problems, rules } = parseRules(
      { ...none, [kind]: [origin] },
      { cwd: '/p', home: '/h', ignoresCase: false },
    );
    expect(problems.map(({ severity }) => severity)).toEqual([
      kind === 'allow' ? 'warning' : 'fatal',
    ]);
    expect(rules[kind]).toEqual([]);
  });
});
