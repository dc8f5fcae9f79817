import { describe, expect, it } from 'vitest';
import { standIn } from '../../test/support/gate-rig.js';
import type { AskRequest } from '../app.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { createWorkspace } from '../tools/workspace.js';
import { permissionOptions, planOptions } from './permission-options.js';

const workspace = createWorkspace(['/p']);

function request(
  name: string,
  input: Readonly<Record<string, unknown>>,
  more: Partial<AskRequest> = {},
): AskRequest {
  const tool = standIn(name);
  const { signal } = new AbortController();
  const subject = tool.subject(input, workspace);
  return {
    call: { toolUseId: 't', tool, input, subject, agent: MAIN_AGENT, workspace, signal },
    mode: 'default',
    trace: [],
    reason: 'No rule allows it',
    ...more,
  };
}

const push = request(
  'Bash',
  { command: 'git push' },
  { suggestions: { exact: 'Bash(git push)', prefix: 'Bash(git push *)' } },
);

describe('options of a permission question', () => {
  it('names the exact rule that the wide answer saves, and its file', () => {
    const options = permissionOptions(push);
    expect(options.map(({ key }) => key)).toEqual(['y', 'a', 's', 'p', 'n']);
    expect(options[0]?.answer).toEqual({ behavior: 'allow' });
    expect(options[1]?.answer).toEqual({
      behavior: 'allow',
      scope: { what: 'exact', until: 'session' },
    });
    expect(options[2]).toMatchObject({
      rule: 'Bash(git push *)',
      answer: { behavior: 'allow', scope: { what: 'prefix', until: 'session' } },
    });
    expect(options[3]).toMatchObject({
      rule: 'Bash(git push *)',
      savedIn: '.claude/settings.local.json',
      answer: { behavior: 'allow', scope: { what: 'prefix', until: 'project' } },
    });
    expect(options[3]?.label).toContain('every command that begins with `git push`');
  });

  it('offers only yes and no where a guard would ask again', () => {
    const held = request('Bash', { command: 'git push' }, { heldBy: 'protected paths' });
    expect(permissionOptions(held).map(({ key }) => key)).toEqual(['y', 'n']);
  });

  it('offers all edits of the session for an edit', () => {
    const edit = request(
      'Edit',
      { file_path: '/p/a', old_string: 'a', new_string: 'b' },
      { suggestion: 'Edit(./a)', suggestions: { exact: 'Edit(./a)' } },
    );
    const options = permissionOptions(edit);
    expect(options.map(({ key }) => key)).toEqual(['y', 'a', 'e', 'n']);
    expect(options[2]?.answer).toEqual({
      behavior: 'allow',
      updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    });
    const accepting = permissionOptions({ ...edit, mode: 'acceptEdits' });
    expect(accepting.map(({ key }) => key)).toEqual(['y', 'a', 'n']);
  });

  it('shows no control characters of a rule', () => {
    const evil = permissionOptions({ ...push, suggestions: { prefix: 'Bash(a\u001b[2J *)' } });
    expect(evil.map(({ label }) => label).join('\n')).not.toContain('\u001b');
  });

  it.each([permissionOptions(push), planOptions()])(
    'refuses with its last option',
    (...options) => {
      expect(options.at(-1)?.answer.behavior).toBe('deny');
      expect(options.slice(0, -1).every(({ answer }) => answer.behavior === 'allow')).toBe(true);
    },
  );
});

describe('options of a plan', () => {
  it('say which mode follows', () => {
    const modes = planOptions().flatMap(({ key, answer }) =>
      answer.behavior === 'allow' ? [[key, answer.updatedPermissions?.[0]]] : [],
    );
    expect(modes).toEqual([
      ['e', { type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
      ['y', { type: 'setMode', mode: 'default', destination: 'session' }],
    ]);
  });
});
