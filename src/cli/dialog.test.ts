import { describe, expect, it } from 'vitest';
import { standIn } from '../../test/support/gate-rig.js';
import { callQuestion } from '../client/call-question.js';
import { planOptions } from '../client/permission-options.js';
import type { AnyAnswer, Question } from '../client/questions.js';
import type { AskRequest } from '../permissions/types.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { createWorkspace } from '../tools/workspace.js';
import { createDialogs } from './dialog.js';

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
  const dialogs = createDialogs({ ask, out });
  const put = async (asked: Question): Promise<AnyAnswer | undefined> => {
    let answer: AnyAnswer | undefined;
    await dialogs.show(asked, async (given) => {
      answer = given;
    });
    return answer;
  };
  const asker = (request: AskRequest) => put(questionOf(request));
  return { shown, asker, put, dialogs };
}

let ids = 0;

function questionOf(request: AskRequest): Question {
  ids++;
  return { ...callQuestion(request), id: `q${ids}`, askedAt: '' } as Question;
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
    const { dialogs, shown } = terminal('y', 'n');
    const given: AnyAnswer[] = [];
    const show = (asked: Question) =>
      dialogs.show(asked, async (answer) => void given.push(answer));
    const withdrawn = questionOf(question());
    const all = [show(questionOf(question())), show(withdrawn), show(questionOf(question()))];
    dialogs.withdraw(withdrawn.id);
    await Promise.all(all);
    expect(given).toMatchObject([{ behavior: 'allow' }, { behavior: 'deny' }]);
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

const FACTS = { id: 'q', agent: MAIN_AGENT, reason: '', askedAt: '' };
const CALL = {
  toolUseId: 't',
  tool: 'AskUserQuestion',
  summary: '',
  input: {},
  cwd: '/p',
  suggestedUpdates: [],
};

describe('the questions of the model', () => {
  const asked: Question = {
    ...FACTS,
    kind: 'choices',
    call: CALL,
    questions: [
      {
        question: 'Which colour?\u001b[2J',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'warm', preview: 'r\u001b\nrr' },
          { label: 'Blue', description: '' },
        ],
      },
      {
        question: 'Which sizes?',
        header: '',
        multiSelect: true,
        options: [
          { label: 'S', description: '' },
          { label: 'L', description: '' },
        ],
      },
    ],
  };
  const [colour, sizes] = ['Which colour?\u001b[2J', 'Which sizes?'];

  it.each([
    [['2', '1, 2'], { answers: { [colour]: 'Blue', [sizes]: 'S, L' } }],
    [['green', '2 2'], { answers: { [colour]: 'green', [sizes]: 'L' } }],
    [['1 2', ''], { answers: { [colour]: '1 2' } }],
    [['7', '3,1'], { answers: { [colour]: '7', [sizes]: '3,1' } }],
    [['', ''], { behavior: 'deny', message: 'The user did not answer.' }],
    [[undefined], { behavior: 'deny', message: 'The user did not answer.', interrupt: true }],
  ])('answered with %j', async (lines, answer) => {
    const { put, shown } = terminal(...lines);
    expect(await put(asked)).toEqual(answer);
    expect(shown.join('')).toContain('  1  Red: warm\n     │ r\n     │ rr\n  2  Blue\n');
    expect(shown.join('')).not.toContain('\u001b');
  });
});

describe('a plan', () => {
  const plan: Question = {
    ...FACTS,
    kind: 'plan',
    call: { ...CALL, tool: 'ExitPlanMode' },
    markdown: '# Plan\n  y  Yes',
    options: planOptions(),
  };

  it('is shown behind a mark, and needs a clear yes', async () => {
    const { put, shown } = terminal('y');
    expect(await put(plan)).toMatchObject({ behavior: 'allow' });
    expect(shown[0]).toContain('  │ # Plan\n  │   y  Yes\n');
    expect(shown[0]).toContain('[e/y/n]');
    expect(await terminal('n, smaller steps').put(plan)).toEqual({
      behavior: 'deny',
      message: 'The user said no: smaller steps',
    });
  });
});

describe('a question of the session itself', () => {
  const confirm: Question = {
    ...FACTS,
    kind: 'confirm',
    topic: 'trust',
    title: 'Trust this folder?',
    details: ['hook: Stop'],
    options: [
      { key: 'y', label: 'Yes' },
      { key: 'w', label: 'Without' },
      { key: 'n', label: 'No' },
    ],
  };

  it.each([
    ['y', 'y'],
    [' YES ', 'y'],
    ['w', 'w'],
    ['yess', 'n'],
    ['', 'n'],
    [undefined, 'n'],
  ])('answered with %j', async (line, option) => {
    const { put, shown } = terminal(line);
    expect(await put(confirm)).toEqual({ option });
    expect(shown[0]).toBe(
      '\nhook: Stop\n  y  Yes\n  w  Without\n  n  No\nTrust this folder? [y/w/n] ',
    );
  });
});
