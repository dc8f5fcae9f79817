import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standIn } from '../../../test/support/gate-rig.js';
import { type CallView, viewOf } from '../../permissions/gate/view.js';
import { NO_RULES } from '../../permissions/rules/rules.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { Workspace } from '../../tools/tool.js';
import { createIfRule, type IfRuleDeps } from './if-rule.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'w.txt': 'w', 'sub/x.ts': 'x', '.env': 'e' } });
});
afterAll(() => project.remove());

function view(name: string, input: Readonly<Record<string, unknown>>): CallView {
  const workspace: Workspace = {
    cwd: project.directory,
    roots: [project.directory],
    setCwd: () => {},
  };
  const tool = standIn(name);
  const subject = tool.subject(input, workspace);
  const { signal } = new AbortController();
  return viewOf(
    { toolUseId: 't', tool, input, subject, agent: MAIN_AGENT, workspace, signal },
    { fs: nodeFileSystem, home: project.home, mode: 'default', rules: NO_RULES },
  );
}

const fits = (call: CallView, rule: string, deps: Partial<IfRuleDeps> = {}): Promise<boolean> =>
  createIfRule({ root: project.directory, ...deps })(call)(rule);
const bash = (command: string): CallView => view('Bash', { command });

describe('an "if" about commands', () => {
  it.each<[string, string, boolean]>([
    ['Bash', 'touch a', true],
    ['Bash(touch *)', 'touch a', true],
    ['Bash(touch:*)', 'touch a', true],
    ['Bash(touch a)', 'touch a', true],
    ['Bash(touch b)', 'touch a', false],
    ['Bash(rm *)', 'touch a', false],
    // Each part of a compound, and inside of substitutions.
    ['Bash(touch *)', 'git status && touch a', true],
    ['Bash(git status)', 'git status && touch a', true],
    ['Bash(touch *)', 'git status; (cd sub && touch a)', true],
    ['Bash(touch *)', 'echo $(touch a)', true],
    ['Bash(touch *)', 'echo `touch a`', true],
    ['Bash(touch *)', 'bash -c "touch a"', true],
    ['Bash(touch *)', 'X=1 Y=2 touch a', true],
    ['Bash(rm *)', 'git status && echo $(touch a)', false],
    // What nobody can tell counts.
    ['Bash(rm -rf *)', 'rm $OPTIONS', true],
    ['Bash(git push *)', 'git $(cat what)', true],
    ['Bash(rm *)', '$PROGRAM a', true],
    ['Bash(rm *)', 'eval "$CODE"', true],
    ['Bash(rm *)', 'echo "unfinished', true],
    ['Bash(rm *)', 'case x in', true],
    // Without a specifier there is nothing to look for in the code.
    ['Write', 'echo "unfinished', false],
    ['WebFetch(domain:x.org)', 'eval "$CODE"', false],
  ])('%s for %s: %s', async (rule, command, expected) => {
    expect(await fits(bash(command), rule)).toBe(expected);
  });

  it.each(['', '  '])('is always right when it is empty: %j', async (rule) => {
    expect(await fits(bash('touch a'), rule)).toBe(true);
  });
});

describe('an "if" about files and other inputs', () => {
  it.each<[string, string, Record<string, unknown>, boolean]>([
    ['Write(*.txt)', 'Write', { file_path: 'w.txt' }, true],
    ['Write(/w.txt)', 'Write', { file_path: 'w.txt' }, true],
    ['Write(*.md)', 'Write', { file_path: 'w.txt' }, false],
    ['Edit(*.ts)', 'Edit', { file_path: 'sub/x.ts' }, true],
    ['Edit(sub/**)', 'Edit', { file_path: 'sub/x.ts' }, true],
    ['Edit(*.ts)', 'Read', { file_path: 'sub/x.ts' }, false],
    ['Read(.env)', 'Read', { file_path: '.env' }, true],
    ['Read(.env)', 'Read', { file_path: 'w.txt' }, false],
    ['write', 'Write', { file_path: 'w.txt' }, true],
    ['Write', 'Read', { file_path: 'w.txt' }, false],
    ['WebFetch(domain:example.com)', 'WebFetch', { url: 'https://example.com/x' }, true],
    ['WebFetch(domain:example.com)', 'WebFetch', { url: 'https://example.org/x' }, false],
    ['mcp__srv', 'mcp__srv__do', {}, true],
    ['mcp__srv__other', 'mcp__srv__do', {}, false],
    ['Bash(run_in_background:true)', 'Bash', { command: 'ls', run_in_background: true }, true],
    ['Bash(run_in_background:true)', 'Bash', { command: 'ls' }, false],
    // Commands touch files too, as far as rules see.
    ['Edit(*.ts)', 'Bash', { command: 'echo x > sub/x.ts' }, true],
    ['Edit(*.ts)', 'Bash', { command: 'echo x > w.txt' }, false],
    ['Read(.env)', 'Bash', { command: 'cat "$FILE"' }, true],
    // All files below here, and the tool itself.
    ['Edit(**)', 'Bash', { command: 'echo x > w.txt' }, true],
    ['Read(**)', 'Bash', { command: 'cat w.txt' }, true],
    ['Edit(**)', 'Edit', { file_path: '/elsewhere/x.ts' }, true],
    ['Edit(**)', 'Bash', { command: 'cat w.txt' }, false],
  ])('%s for %s %j: %s', async (rule, tool, input, expected) => {
    expect(await fits(view(tool, input), rule)).toBe(expected);
  });
});

describe('an "if" that cannot be read', () => {
  it.each(['Bash(', 'Bsh(rm *)', 'Read(', 'a b', 'Bash(x), Bash(y)', '*'])(
    'runs the hook: %s',
    async (rule) => {
      expect(await fits(bash('touch a'), rule)).toBe(true);
      expect(await fits(view('Write', { file_path: 'w.txt' }), rule)).toBe(true);
    },
  );

  it('is told once', async () => {
    const told: string[] = [];
    const ifRule = createIfRule({
      root: project.directory,
      onUnreadable: (rule, why) => void told.push(`${rule}: ${why}`),
    });
    for (let time = 0; time < 3; time++) await ifRule(bash('ls'))('Bash(');
    expect(told).toEqual(['Bash(: the closing parenthesis is missing']);
  });

  it('runs the hook when the call cannot be looked at', async () => {
    const blind = { ...bash('touch a'), shell: () => Promise.reject(new Error('lost')) };
    expect(await fits(blind, 'Bash(rm *)')).toBe(true);
  });
});
