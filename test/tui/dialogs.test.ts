import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/client/questions.js';
import { QuestionQueue } from '../../src/tui/dialogs/question-queue.js';
import { KeyParser } from '../../src/tui/input/keys.js';
import { plainText } from '../../src/tui/screen/line.js';

const FACTS = {
  agent: { id: 'main', path: 'main', type: 'main', depth: 0, background: false },
  reason: 'no rule allows it',
  askedAt: '2026-01-01T00:00:00Z',
} as const;
const CALL = {
  toolUseId: 't1',
  tool: 'Bash',
  summary: 'touch made',
  input: { command: 'touch made' },
  cwd: '/p',
  suggestedUpdates: [],
} as const;
const YES = { behavior: 'allow' } as const;
const NO = { behavior: 'deny', interrupt: true } as const;

function permission(id = 'q1', more: object = {}): Question {
  return {
    ...FACTS,
    id,
    kind: 'permission',
    call: { ...CALL, ...more },
    options: [
      { key: 'y', label: 'Yes, this once', answer: YES },
      {
        key: 'p',
        label: 'Yes, always',
        rule: 'Bash(touch *)',
        savedIn: '.claude/settings.local.json',
        answer: { behavior: 'allow', scope: { what: 'prefix', until: 'project' } },
      },
      { key: 'n', label: 'No', answer: NO },
    ],
  };
}

function setup(question: Question, files: Readonly<Record<string, string>> = {}) {
  let time = 10_000;
  const queue = new QuestionQueue({ readText: (path) => files[path], now: () => time });
  queue.add(question);
  const screen = (): string => (queue.view(80, 24)?.lines ?? []).map(plainText).join('\n');
  return {
    queue,
    screen,
    wait: (ms: number) => {
      time += ms;
    },
    /** Shows it and waits until keys are taken. */
    open() {
      screen();
      time += 5000;
      return screen();
    },
    type(data: string) {
      const parser = new KeyParser();
      return [...parser.feed(data), ...parser.flush()].flatMap((event) => {
        const pressed = event.type === 'key' ? queue.press(event.key) : undefined;
        return pressed?.answer === undefined ? [] : [pressed.answer];
      });
    },
  };
}

describe('a permission question', () => {
  it('is drawn again as one that takes keys, also where it settles while it is drawn', () => {
    const { queue, screen, wait } = setup(permission());
    expect(screen()).toMatch(/…$/);
    wait(250);
    expect(queue.redrawIn()).toBe(1);
    expect(queue.redrawIn()).toBeUndefined();
    expect(screen()).toMatch(/Esc refuses$/);
    expect(queue.redrawIn()).toBeUndefined();
  });

  it('shows the command, the reason and the rule that each answer saves', () => {
    const { open } = setup(
      permission('q1', { rule: { text: 'Bash(touch *)', source: '/p/.claude/settings.json:4' } }),
    );
    const seen = open();
    expect(seen).toContain('Allow Bash?');
    expect(seen).toContain('│ touch made');
    expect(seen).toContain('Why: no rule allows it');
    expect(seen).toContain('/p/.claude/settings.json:4');
    expect(seen).toContain('rule Bash(touch *) → .claude/settings.local.json');
  });

  it('names the path that it is about, which may lie inside the working directories', () => {
    const seen = setup(permission('q1', { blockedPath: '/p/.git/config' })).open();
    expect(seen).toContain('Path: /p/.git/config');
    expect(seen).not.toContain('Outside');
  });

  it('is answered by a letter, a number, or arrows and Enter', () => {
    for (const [keys, answer] of [
      ['y', YES],
      ['1', YES],
      ['\u001b[B\r', YES],
      ['\u001b', NO],
      ['n\r', NO],
      ['ninstead\r', { behavior: 'deny', message: 'The user said no: instead' }],
    ] as const) {
      const asked = setup(permission());
      asked.open();
      expect(asked.type(keys)).toEqual([answer]);
    }
  });

  it('is not answered by Enter alone', () => {
    const asked = setup(permission());
    asked.open();
    expect(asked.type('\r\r\r')).toEqual([]);
  });

  it('is not answered by keys that were pressed before it was on the screen', () => {
    const asked = setup(permission());
    expect(asked.type('y')).toEqual([]);
    asked.screen();
    expect(asked.type('y')).toEqual([]);
    asked.wait(100);
    expect(asked.type('y')).toEqual([]);
  });

  it('waits for a pause of a person who types on', () => {
    const asked = setup(permission());
    asked.screen();
    asked.type('y');
    for (let index = 0; index < 30; index++) {
      asked.wait(400);
      expect(asked.screen()).toContain('Pause typing');
      expect(asked.type('y')).toEqual([]);
    }
    asked.wait(800);
    expect(asked.screen()).toContain('Choose with a letter');
    expect(asked.type('y')).toEqual([YES]);
  });

  it('shows the change of a file against the file', () => {
    const asked = setup(
      permission('q1', {
        tool: 'Edit',
        input: { file_path: '/p/a.js', old_string: 'two', new_string: 'TWO' },
      }),
      { '/p/a.js': 'one\ntwo\nthree\n' },
    );
    const seen = asked.open();
    expect(seen).toContain('2 - two');
    expect(seen).toContain('2 + TWO');
    expect(seen).toContain('3   three');
  });

  it('shows characters that would hide something as their codes', () => {
    const asked = setup(permission('q1', { input: { command: 'ls \u202e\u001b[2J\u200b; rm x' } }));
    const seen = asked.open();
    expect(seen).toContain('ls \\u202e\\u001b[2J\\u200b; rm x');
  });

  it('keeps the answers visible under a very long command, which can be scrolled', () => {
    const command = Array.from({ length: 300 }, (_, index) => `echo ${index}`).join('\n');
    const asked = setup(permission('q1', { input: { command } }));
    const seen = asked.open();
    expect(seen).toContain('Yes, this once');
    expect(seen).toMatch(/lines 1–\d+ of 300/);
    asked.type('\u001b[6~\u001b[6~');
    expect(asked.screen()).toContain('│ echo 30');
  });

  it('shows the command and the answers in a small window', () => {
    const asked = setup(permission());
    asked.open();
    const seen = (asked.queue.view(30, 11)?.lines ?? []).map(plainText);
    expect(seen.length).toBeLessThanOrEqual(11);
    expect(seen).toContain('│ touch made');
    expect(seen).toContain('  n  No');
  });

  it('makes room for the next one, which the same key does not answer', () => {
    const asked = setup(permission('q1'));
    asked.queue.add(permission('q2'));
    expect(asked.open()).toContain('1 more waiting');
    expect(asked.type('y')).toEqual([YES]);
    asked.queue.remove('q1');
    asked.screen();
    expect(asked.type('y')).toEqual([]);
    expect(asked.queue.first?.id).toBe('q2');
  });

  it('says who asks', () => {
    const agent = { ...FACTS.agent, path: 'main/reviewer#1', depth: 1, background: true };
    const asked = setup({ ...permission(), agent });
    expect(asked.open()).toContain('asked by main/reviewer#1 (background)');
  });
});

describe('the questions of AskUserQuestion', () => {
  const option = (label: string) => ({ label, description: `about ${label}` });
  const question: Question = {
    ...FACTS,
    id: 'q',
    kind: 'choices',
    call: { ...CALL, tool: 'AskUserQuestion' },
    questions: [
      {
        question: 'Which one?',
        header: 'Pick',
        multiSelect: false,
        options: [option('red'), option('blue')],
      },
      {
        question: 'Which ones?',
        header: 'Many',
        multiSelect: true,
        options: [option('a'), option('b'), option('c')],
      },
    ],
  };

  it('takes one answer, then several', () => {
    const asked = setup(question);
    const seen = asked.open();
    expect(seen).toContain('Pick (1 of 2)');
    expect(seen).toContain('about red');
    expect(asked.type('2')).toEqual([]);
    expect(asked.screen()).toContain('Many (2 of 2)');
    expect(asked.type(' \u001b[B\u001b[B \r')).toEqual([
      { answers: { 'Which one?': 'blue', 'Which ones?': 'a, c' } },
    ]);
  });

  it('takes an answer of one’s own, and Esc for none', () => {
    const asked = setup(question);
    asked.open();
    asked.type('3green\r');
    expect(asked.type('4other\r')).toEqual([
      { answers: { 'Which one?': 'green', 'Which ones?': 'other' } },
    ]);
    const other = setup(question);
    other.open();
    expect(other.type('\u001b')).toMatchObject([{ behavior: 'deny' }]);
  });
});

describe('forms, pages and confirmations', () => {
  it('checks the fields of a form and shows what is sent', () => {
    const asked = setup({
      ...FACTS,
      id: 'q',
      kind: 'form',
      server: 'srv',
      message: 'Fill in',
      warnings: [],
      fields: [
        {
          name: 'age',
          title: 'Age',
          required: true,
          secret: false,
          kind: 'integer',
          minimum: 0,
          maximum: 9,
        },
        {
          name: 'nick',
          title: 'nick',
          required: false,
          secret: false,
          kind: 'text',
          minLength: 0,
          maxLength: 9,
        },
      ],
    });
    asked.open();
    expect(asked.type('77\r')).toEqual([]);
    expect(asked.screen()).toContain('! ');
    asked.type('\u0015\r');
    expect(asked.screen()).toContain('required');
    asked.type('7\r\r');
    expect(asked.screen()).toContain('age: 7');
    expect(asked.type('y')).toEqual([{ action: 'accept', content: { age: 7 } }]);
  });

  it('shows the whole address of a page, and refuses with Esc', () => {
    const url = `https://example.org/${'x'.repeat(200)}`;
    const asked = setup({
      ...FACTS,
      id: 'q',
      kind: 'url',
      server: 's',
      message: 'm',
      warnings: [],
      url,
      host: 'example.org',
    });
    expect(asked.open().replace(/\n│ /g, '')).toContain(url);
    expect(asked.type('\u001b')).toEqual([{ action: 'cancel' }]);
  });

  it('confirms by the key of an option and refuses with Esc', () => {
    const question: Question = {
      ...FACTS,
      id: 'q',
      kind: 'confirm',
      topic: 'trust',
      title: 'Trust this folder?',
      details: ['  hooks.json:3  runs ./check.sh'],
      options: [
        { key: 'y', label: 'Yes' },
        { key: 'n', label: 'No, quit' },
      ],
    };
    const asked = setup(question);
    expect(asked.open()).toContain('  hooks.json:3  runs ./check.sh');
    expect(asked.type('y')).toEqual([{ option: 'y' }]);
    const other = setup(question);
    other.open();
    expect(other.type('\u001b')).toEqual([{ option: 'n' }]);
  });
});
