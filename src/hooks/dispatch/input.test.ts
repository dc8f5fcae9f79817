import { describe, expect, it } from 'vitest';
import { standIn } from '../../../test/support/gate-rig.js';
import { homeDirectory } from '../../platform/fs/paths.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { toolOccasion } from './input.js';

function about(name: string, input: Readonly<Record<string, unknown>>) {
  const workspace = { cwd: '/there/here', roots: ['/there/here'], setCwd: () => undefined };
  const { signal } = new AbortController();
  const tool = { ...standIn(name), aliases: ['Old'] };
  const call = { toolUseId: 't1', tool, input, agent: MAIN_AGENT, workspace, signal };
  return { call, mode: 'default' as const };
}

const inputOf = (name: string, input: Readonly<Record<string, unknown>>) =>
  toolOccasion('PreToolUse', about(name, input)).fields.tool_input;

describe('an occasion about a call', () => {
  it('is matched by all names of the tool and carries the call', () => {
    const question = about('Bash', { command: 'ls' });
    const occasion = toolOccasion('PostToolUse', question, { fields: { duration_ms: 3 } });
    expect(occasion).toEqual({
      agent: MAIN_AGENT,
      cwd: '/there/here',
      mode: 'default',
      matched: ['Bash', 'Old'],
      toolUseId: 't1',
      signal: question.call.signal,
      fields: {
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        tool_use_id: 't1',
        duration_ms: 3,
      },
    });
    const request = toolOccasion('PermissionRequest', question);
    expect(request.fields).not.toHaveProperty('tool_use_id');
    expect(request.toolUseId).toBe('t1');
  });

  it('shows file tools with absolute paths', () => {
    expect(inputOf('Write', { file_path: './a.txt', content: 'c' })).toEqual({
      file_path: '/there/here/a.txt',
      content: 'c',
    });
    expect(inputOf('NotebookEdit', { notebook_path: 'n.ipynb' })).toEqual({
      notebook_path: '/there/here/n.ipynb',
    });
    expect(inputOf('Grep', { path: '..', pattern: 'p' })).toMatchObject({ path: '/there' });
    expect(inputOf('Read', { file_path: '/etc/../x' })).toEqual({ file_path: '/x' });
    expect(inputOf('Read', { file_path: '~/a' })).toEqual({ file_path: `${homeDirectory()}/a` });
  });

  it('leaves every other input as it is', () => {
    for (const [name, input] of [
      ['Read', { file_path: 7 }],
      ['Grep', { pattern: 'p', path: '' }],
      ['Bash', { command: 'ls', path: 'x' }],
      ['mcp__srv__do', { file_path: 'x' }],
    ] as const) {
      expect(inputOf(name, input)).toBe(input);
    }
  });
});
