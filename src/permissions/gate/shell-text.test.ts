import { afterEach, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import type { AskAnswer } from './types.js';

describe('the text of a shell command that runs', () => {
  const projects: TempProject[] = [];
  afterEach(() => {
    for (const project of projects.splice(0)) project.remove();
  });

  async function judge(command: string, options: Partial<RigOptions>) {
    const project = makeTempProject();
    projects.push(project);
    const { root } = project;
    const verdict = await gateRig({ cwd: root, home: root, ...options }).call('Bash', { command });
    if (verdict.kind === 'refused') return { message: verdict.message, receipt: verdict.receipt };
    return { runs: verdict.permit.command, receipt: verdict.receipt };
  }

  const yes = (more: Partial<AskAnswer> = {}) => ({
    asker: async () => ({ behavior: 'allow', ...more }) as AskAnswer,
  });

  it.each<[string, string, Partial<RigOptions>]>([
    ['a command that looks', 'ls "a b"', {}],
    ['a rule for the tool', 'make "a b"', { allow: ['Bash'] }],
    ['a rule for the command', 'make "a b"', { allow: ['Bash(make:*)'] }],
    ['a rule for the very text', 'make "a b"', { allow: ['Bash(make "a b")'] }],
    ['bypassPermissions', 'make "a b"', { mode: 'bypassPermissions' }],
    ['deny rules that do not apply', 'make "a b"', { allow: ['Bash'], deny: ['Bash(rm:*)'] }],
    ['the yes of a hook', 'make "a b"', yes({ by: 'a hook', byHook: true })],
  ])('is the canonical form for %s', async (_name, command, options) => {
    const { runs, receipt } = await judge(command, options);
    expect(runs).toBe(command.replace(/^(\w+) "a b"$/, "'$1' 'a b'"));
    expect(receipt).toMatchObject({ input: { command }, runs });
  });

  it('is the text itself where a person answers', async () => {
    for (const command of ['make "a b"', 'coproc make', 'ls "']) {
      const { runs, receipt } = await judge(command, yes());
      expect(runs).toBe(command);
      expect(receipt.runs).toBeUndefined();
    }
  });

  it.each<Partial<RigOptions>>([
    { allow: ['Bash'] },
    { allow: ['Bash(coproc ls)'] },
    { mode: 'bypassPermissions' },
  ])('waits for a person where it has no canonical form, with %j', async (options) => {
    const { runs, message } = await judge('coproc ls', options);
    expect(runs).toBeUndefined();
    expect(message).toContain('it starts a coprocess');
    expect((await judge('coproc ls', { ...options, ...yes() })).runs).toBe('coproc ls');
  });
});
