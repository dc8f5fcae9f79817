import { describe, expect, it } from 'vitest';
import { type Attempt, attempt } from './attempt.js';

/** A Write that is cut off keeps a draft, which WriteDraft writes. */
const CUT_OFF = [
  { tool: 'Write', rawInput: '{"file_path":"a.txt","content":"the beginn' },
  { tool: 'WriteDraft', input: { draft_id: 'draft-1', append: 'ing and the end' } },
];

const completed = (settings: Attempt['settings'], config: Attempt['config'] = {}) =>
  attempt({
    calls: CUT_OFF,
    config: { permissionMode: 'acceptEdits', ...config },
    ...(settings && { settings }),
  });

const hook = (matcher: string, command: string, more: object = {}) => ({
  hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command, ...more }] }] },
});
/** Refuses a Write of this content, as guards that look for secrets do. */
const READS_CONTENT = 'grep -q "the beginning and the end" && exit 2; exit 0';

describe('a Write that was cut off and is completed', () => {
  it.each([
    ['a hook for Write', hook('Write', 'exit 2')],
    ['a hook for Write and Edit', hook('Write|Edit', 'exit 2')],
    [
      'a hook that looks for its tool',
      hook('*', `grep -q '"tool_name":"Write"' && exit 2; exit 0`),
    ],
    ['a hook that reads its content', hook('*', READS_CONTENT)],
    ['a hook that reads its path', hook('Write', `grep -q '"file_path":"/' && exit 2; exit 0`)],
    ['a hook for its path', hook('Write', 'exit 2', { if: 'Write(a.txt)' })],
    ['a hook for WriteDraft', hook('WriteDraft', 'exit 2')],
    ['an ask rule for Write', { permissions: { ask: ['Write'] } }],
    ['a deny rule for Write', { permissions: { deny: ['Write'] } }],
    ['an ask rule for WriteDraft', { permissions: { ask: ['WriteDraft'] } }],
    ['a rule about its path', { permissions: { deny: ['Edit(a.txt)'] } }],
  ])('is held by %s', async (_what, settings) => {
    const { results, project } = await completed(settings);
    expect(results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(project.exists('a.txt')).toBe(false);
  });

  it('shows the person the whole Write', async () => {
    const asked: unknown[] = [];
    const { project } = await completed(undefined, {
      permissionMode: 'default',
      asker: async ({ call }) => {
        asked.push({ tool: call.tool.name, input: call.input });
        return { behavior: 'allow' };
      },
    });
    const input = { file_path: project.at('a.txt'), content: 'the beginning and the end' };
    expect(asked).toEqual([{ tool: 'Write', input }]);
    expect(project.read('a.txt')).toBe(input.content);
  });

  it.each([
    ['nothing speaks against it', undefined],
    ['a rule allows WriteDraft', { permissions: { allow: ['WriteDraft'] } }],
    ['a hook is for another tool', hook('Edit', 'exit 2')],
  ])('is written where %s', async (_what, settings) => {
    const { results, project } = await completed(settings);
    expect(results[1]).toMatchObject({ ran: true });
    expect(project.read('a.txt')).toBe('the beginning and the end');
  });
});
