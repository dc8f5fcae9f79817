import { describe, expect, it } from 'vitest';
import { standIn } from '../../test/support/gate-rig.js';
import type { AskRequest } from '../permissions/types.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { createWorkspace } from '../tools/workspace.js';
import { createPersonAsker } from './ask-person.js';

const workspace = createWorkspace(['/p']);

function question(
  over: Partial<AskRequest> = {},
  signal = new AbortController().signal,
): AskRequest {
  const tool = standIn('Bash');
  const input = { command: 'git push' };
  return {
    call: {
      toolUseId: 't',
      tool,
      input,
      subject: tool.subject(input, workspace),
      agent: MAIN_AGENT,
      workspace,
      signal,
    },
    mode: 'default',
    trace: [],
    reason: 'nothing allows it',
    suggestions: { exact: 'Bash(git push)', prefix: 'Bash(git push *)' },
    ...over,
  };
}

function terminal(...lines: (string | undefined)[]) {
  const shown: string[] = [];
  const out = (text: string): void => void shown.push(text);
  const ask = async (text: string): Promise<string | undefined> => {
    out(text);
    return lines.shift();
  };
  return { shown, asker: createPersonAsker({ ask, out }) };
}

describe('the question at the terminal', () => {
  it('shows what, why and the rule in words', async () => {
    const { asker, shown } = terminal('y');
    expect(await asker(question())).toEqual({ behavior: 'allow' });
    expect(shown[0]).toContain('? Bash: git push\n  nothing allows it\n');
    expect(shown[0]).toContain('every command that begins with `git push`');
    expect(shown[0]).toContain('Bash(git push *)');
    expect(shown[0]).toContain('[y/a/p/n]');
  });

  it.each([
    ['YES', { behavior: 'allow' }],
    ['a', { behavior: 'allow', scope: { what: 'exact', until: 'session' } }],
    ['P', { behavior: 'allow', scope: { what: 'prefix', until: 'project' } }],
    ['n', { behavior: 'deny', message: 'The user said no.', interrupt: true }],
    ['', { behavior: 'deny', message: 'The user said no.', interrupt: true }],
    [undefined, { behavior: 'deny', message: 'The user said no.', interrupt: true }],
    ['n, use staging', { behavior: 'deny', message: 'The user said no: use staging' }],
    ['pp', { behavior: 'deny', message: 'The user said no: pp' }],
  ])('%j', async (line, answer) => {
    expect(await terminal(line).asker(question())).toEqual(answer);
  });

  it('offers no wider answer where it would be asked again', async () => {
    const { asker, shown } = terminal('p');
    const { suggestions: _, ...held } = question();
    expect(await asker(held)).toMatchObject({ behavior: 'deny' });
    expect(shown[0]).toContain('[y/n]');
  });

  it('offers the tool where nothing narrower can be said', async () => {
    const { asker } = terminal('p');
    expect(await asker(question({ suggestions: { tool: 'mcp__s__t' } }))).toEqual({
      behavior: 'allow',
      scope: { what: 'tool', until: 'project' },
    });
  });

  it('asks one at a time, and not about what was withdrawn', async () => {
    const { asker, shown } = terminal('y', 'n');
    const withdrawn = AbortSignal.abort();
    const answers = await Promise.all([
      asker(question()),
      asker(question({}, withdrawn)),
      asker(question()),
    ]);
    expect(answers.map(({ behavior }) => behavior)).toEqual(['allow', 'deny', 'deny']);
    expect(shown).toHaveLength(2);
  });

  it('shows the beginning of what is long, and all of it when asked to', async () => {
    const { asker, shown } = terminal('v', ' V ', 'y');
    const input = {
      command: Array.from({ length: 40 }, (_, at) => `echo ${at}`).join('\n'),
    };
    const { call } = question();
    const subject = call.tool.subject(input, workspace);
    const answer = await asker(question({ call: { ...call, input, subject } }));
    expect(answer).toEqual({ behavior: 'allow' });
    expect(shown[0]).toContain('? Bash: 40 lines\n  │ echo 0\n');
    expect(shown[0]).toContain('  │ … 16 more lines\n');
    expect(shown[0]).toContain('[y/a/p/v/n]');
    expect(shown[0]).not.toContain('echo 39');
    expect(shown[1]).toContain('  │ echo 39\n  Allow? ');
    expect(shown).toHaveLength(3);
  });

  it('takes a v for a no where everything was shown', async () => {
    expect(await terminal('v').asker(question())).toMatchObject({ behavior: 'deny' });
  });

  it('lets no word of the call or the reason pass for a line of the question', async () => {
    const { asker, shown } = terminal('n');
    await asker(question({ reason: 'no\n  y  nothing is done' }));
    expect(shown[0]?.split('\n').filter((line) => line.startsWith('  y  '))).toHaveLength(1);
  });

  it('keeps control characters off the terminal', async () => {
    const { asker, shown } = terminal('n');
    await asker(question({ reason: 'a\u001b[2Jb' }));
    expect(shown[0]).not.toContain('\u001b');
  });
});
