import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { PipedPrompts } from '../../src/cli/piped-prompts.js';
import type { Question } from '../../src/client/questions.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { Terminal } from '../../src/tui/app.js';
import type { TerminalOptions } from '../../src/tui/terminal-options.js';
import { createEmulator } from './emulator.js';
import { FakeClient } from './fake-client.js';

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

const INFO = { model: 'm', cwd: '/p', mode: 'default', models: [] } as never;

function setup(options: Partial<TerminalOptions> = {}) {
  const emulator = createEmulator({ columns: 80, rows: 30 });
  const client = new FakeClient();
  let input: (data: string) => void = () => undefined;
  let time = 1_000;
  const terminal = new Terminal(client, {
    device: {
      write: (data) => emulator.write(data),
      size: () => emulator.size,
      onInput: (listener) => {
        input = listener;
      },
      onResize: () => undefined,
      setRaw: () => undefined,
      suspend: () => undefined,
      close: () => undefined,
    },
    kind: 'dumb',
    colour: true,
    readText: () => undefined,
    version: '1',
    now: () => time,
    ...options,
  });
  open.push(terminal);
  client.emit({ type: 'opened', info: INFO });
  const screen = async (): Promise<string> => {
    await pause(60);
    await emulator.settle();
    return emulator
      .rows()
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd();
  };
  return {
    client,
    terminal,
    emulator,
    screen,
    typeNow: (data: string) => input(data),
    async type(data: string) {
      input(data);
      return await screen();
    },
    /** Lets the question take keys. */
    async settles() {
      await screen();
      time += 5_000;
      // A focus report: nothing is typed, but the row is drawn again.
      input('\u001b[O');
      return await screen();
    },
  };
}

function permission(id = 'q1', over: Partial<Question> = {}): Question {
  return {
    id,
    kind: 'permission',
    agent: { ...MAIN_AGENT, path: 'main/helper#1', depth: 1, background: true },
    reason: 'no rule allows it',
    askedAt: '',
    call: {
      toolUseId: 't',
      tool: 'Bash',
      summary: '',
      input: { command: 'git push\u001b[2J\n  y  Yes' },
      cwd: '/p',
      suggestedUpdates: [],
    },
    options: [
      { key: 'y', label: 'Yes, this once', answer: { behavior: 'allow' } },
      {
        key: 'p',
        label: 'Yes, always',
        rule: 'Bash(git *)',
        savedIn: '.claude/settings.local.json',
        answer: { behavior: 'allow', scope: { what: 'prefix', until: 'project' } },
      },
      { key: 'n', label: 'No', answer: { behavior: 'deny', interrupt: true } },
    ],
    ...over,
  } as Question;
}

async function answered(question: Question, ...lines: readonly string[]) {
  const { client, type, settles, screen } = setup();
  client.emit({ type: 'question', question });
  for (const line of lines) {
    await settles();
    await type(line);
    await type('\r');
  }
  return { answer: client.answers[0]?.answer, screen: await screen() };
}

const NO = { behavior: 'deny', interrupt: true };

describe('append-only mode', () => {
  it('keeps what was typed, prints answers by paragraphs and calls when they begin', async () => {
    const { client, type, screen } = setup();
    expect(await type('helo\u007flo')).toMatch(/mode default · \/p\n\/help[^\n]*\n> hello$/);
    await type('\r');
    expect(client.sent.at(-1)).toMatchObject({ name: 'prompt' });
    client.emit({ type: 'state', state: 'running' });
    client.text('First **one**.\n\nSec');
    expect(await screen()).toMatch(/> hello\n+First one\.$/);
    client.text('ond.');
    client.endText();
    const call = { toolUseId: 't1', tool: 'Bash', input: { command: 'make' }, agent: MAIN_AGENT };
    client.emit({ type: 'tool', call, state: { kind: 'running' } });
    expect(await screen()).toMatch(/Second\.\n· → Bash make$/);
    client.emit({ type: 'state', state: 'idle' });
    expect(await screen()).toMatch(/→ Bash make\n>$/);
  });

  it('sends no escape sequence to a dumb terminal, whatever happens', async () => {
    const evil = fc.constantFrom(
      'word ',
      '漢字 ',
      '\u001b[2J\u001b]0;x\u0007',
      '👩‍👩‍👧 ',
      '\n\n',
      '\u009b3J',
    );
    const step = fc.tuple(
      fc.constantFrom('text', 'notice', 'question', 'closed', 'key', 'left', 'enter'),
      evil,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { client, emulator, typeNow, terminal } = setup();
        let count = 0;
        for (const [kind, text] of steps) {
          if (kind === 'text') client.text(text);
          else if (kind === 'question')
            client.emit({ type: 'question', question: permission('q', { reason: text }) });
          else if (kind === 'closed')
            client.emit({ type: 'question_closed', id: 'q', outcome: 'withdrawn' });
          else if (kind === 'notice')
            client.emit({ type: 'notice', level: 'info', text: `<${count++}>${text}` });
          else typeNow(kind === 'left' ? '\u001b[D' : kind === 'enter' ? '\r' : text.slice(0, 1));
        }
        terminal.close();
        await emulator.settle();
        expect(emulator.sent).not.toMatch(/\u001b|\u009b/);
        const ids = [...emulator.sent.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id));
        expect(ids).toEqual(Array.from({ length: count }, (_, id) => id));
      }),
      { numRuns: 60 },
    );
  });

  it('lets only what is typed after a question answer it, and gives the draft back', async () => {
    const { client, type, settles, screen } = setup();
    await type('y');
    client.emit({ type: 'question', question: permission() });
    expect(await screen()).toMatch(/n {2}No\n> y$/);
    expect(await settles()).toMatch(/Answer \[y\/p\/n\]$/);
    await type('\r');
    expect(client.answers).toEqual([{ id: 'q1', answer: NO }]);
    expect(await screen()).toMatch(/> y$/);
  });

  it('holds other output back while a question is open', async () => {
    const { client, type, settles, screen } = setup();
    client.emit({ type: 'question', question: permission() });
    await settles();
    client.emit({ type: 'notice', level: 'warning', text: 'MEANWHILE' });
    expect(await screen()).not.toContain('MEANWHILE');
    expect(await type('y\r')).toMatch(/Answer \[y\/p\/n\] y\n! MEANWHILE/);
  });

  it('leaves a question that another client answered', async () => {
    const { client, type, settles } = setup();
    client.emit({ type: 'question', question: permission() });
    await settles();
    await type('y');
    client.emit({ type: 'question_closed', id: 'q1', outcome: 'answered', by: 'console' });
    expect(await type('\r')).toContain('The question is closed: answered by console.');
    expect(client.answers).toEqual([]);
  });

  it('runs the choice of a command, and another command that is typed instead', async () => {
    const { client, type, settles } = setup();
    const choices = [{ label: 'first\u001b[2J', line: '/rewind 1' }];
    client.output = { text: 'Which?', choices };
    expect(await type('/rewind\r')).toContain('  1  first\\u001b[2J');
    await settles();
    client.output = { text: 'Done.', draft: 'again' };
    expect(await type('1\r')).toMatch(/> \/rewind 1\n {2}Done\.\n> again$/);
    client.output = { text: 'Which?', choices };
    await type('\u0015/rewind\r');
    await settles();
    await type('/help\r');
    expect(client.sent.at(-1)).toEqual({ name: 'command', params: { line: '/help' } });
  });

  it('lists several completions and takes a single one', async () => {
    const { client, type } = setup();
    client.completions = [
      { text: '/model', from: 0 },
      { text: '/mode', from: 0 },
    ];
    expect(await type('/mo\t')).toMatch(/\/model {2}\/mode\n> \/mo$/);
    client.completions = [{ text: '/model ', from: 0 }];
    expect(await type('\t')).toMatch(/> \/model$/);
  });

  it('shows a long prompt around the caret, and line breaks in one row', async () => {
    const { type } = setup();
    expect(await type('one\\\rtwo')).toMatch(/> one⏎two$/);
    const seen = await type('x'.repeat(300));
    expect(seen.split('\n').at(-1)).toMatch(/^…x+$/);
    expect(seen.split('\n').at(-1)?.length).toBeLessThan(80);
  });
});

describe('a question in append-only mode', () => {
  it.each([
    ['YES', { behavior: 'allow' }],
    ['1', { behavior: 'allow' }],
    ['P', { behavior: 'allow', scope: { what: 'prefix', until: 'project' } }],
    ['n', NO],
    ['', NO],
    ['n, use staging', { behavior: 'deny', message: 'The user said no: use staging' }],
    ['pp', { behavior: 'deny', message: 'The user said no: pp' }],
  ])('about a call is answered with %j', async (line, answer) => {
    const seen = await answered(permission(), line);
    expect(seen.answer).toEqual(answer);
    expect(seen.screen).toContain('? Allow Bash? · asked by main/helper#1 (background)');
    expect(seen.screen).toContain('│ git push\\u001b[2J\n│   y  Yes\nWhy: no rule allows it');
    expect(seen.screen).toContain('rule Bash(git *) → .claude/settings.local.json');
  });

  it.each(['\u001b[27u', '\u0003', '\u0004'])('is refused by the key %j', async (key) => {
    const { client, type, settles } = setup();
    client.emit({ type: 'question', question: permission() });
    await settles();
    await type(key);
    expect(client.answers).toEqual([{ id: 'q1', answer: NO }]);
  });

  const CALL = {
    toolUseId: 't',
    tool: 'Ask',
    summary: '',
    input: {},
    cwd: '/',
    suggestedUpdates: [],
  };
  const option = (label: string) => ({
    label,
    description: `about ${label}`,
    preview: `${label}!`,
  });
  const choices = permission('q', {
    kind: 'choices',
    call: CALL,
    questions: [
      {
        question: 'Colour?',
        header: 'Paint',
        multiSelect: false,
        options: ['Red', 'Blue'].map(option),
      },
      { question: 'Sizes?', header: '', multiSelect: true, options: ['S', 'L'].map(option) },
    ],
  } as Partial<Question>);

  it.each([
    [['2', '1, 2'], { answers: { 'Colour?': 'Blue', 'Sizes?': 'S, L' } }],
    [['green', '2 2'], { answers: { 'Colour?': 'green', 'Sizes?': 'L' } }],
    [['1 2', ''], { answers: { 'Colour?': '1 2' } }],
    [['7', '3,1'], { answers: { 'Colour?': '7', 'Sizes?': '3,1' } }],
    [['', ''], { behavior: 'deny', message: 'The user did not answer the questions.' }],
  ])('of the model is answered with %j', async (lines, answer) => {
    const seen = await answered(choices, ...lines);
    expect(seen.answer).toEqual(answer);
    expect(seen.screen).toContain('  1  Red\n     about Red\n│ Red!\n  2  Blue');
  });

  it('of a server is filled in field by field, and sent after a clear yes', async () => {
    const field = { required: true, secret: false, kind: 'integer', minimum: 0, maximum: 9 };
    const form = permission('q', {
      kind: 'form',
      server: 'srv',
      message: 'Hi',
      warnings: ['careful'],
      fields: [{ ...field, name: 'age', title: 'Age' }],
    } as Partial<Question>);
    const sent = await answered(form, '', '77', '7', 'y');
    expect(sent.answer).toEqual({ action: 'accept', content: { age: 7 } });
    expect(sent.screen).toContain('Age (age)  required, whole number, from 0, to 9');
    expect(sent.screen).toContain('! This field is required.');
    expect(sent.screen.match(/asks for input/g)).toHaveLength(1);
    expect((await answered(form, '7', '')).answer).toEqual({ action: 'decline' });
    expect((await answered(form, '/cancel')).answer).toEqual({ action: 'cancel' });
    const page = {
      kind: 'url',
      server: 's',
      message: 'm',
      warnings: [],
      url: 'https://a.b/c',
      host: 'a.b',
    };
    const url = permission('q', page as Partial<Question>);
    expect((await answered(url, 'sure')).answer).toEqual({ action: 'cancel' });
    expect((await answered(url, 'y')).answer).toEqual({ action: 'accept' });
  });
});

describe('a pipe', () => {
  it('runs line by line, answers nothing, and ends when all is done', async () => {
    const { client, terminal, screen } = setup({ kind: 'pipe' });
    let ended = false;
    const output: string[] = [];
    const input = new PassThrough();
    new PipedPrompts(client, {
      onOutput: (command) => void output.push(command),
      onProblem: (text) => void output.push(text),
      onEnd: () => {
        ended = true;
      },
    }).read(input, 'first');
    client.emit({ type: 'opened', info: INFO });
    input.write('/status\n\ntwo');
    const prompts = () => client.sent.filter(({ name }) => name === 'prompt');
    const finish = (at: number) => {
      const { id } = (prompts()[at]?.params ?? {}) as { id: string };
      client.emit({ type: 'prompt', id, state: 'completed', named: true });
    };
    await pause(20);
    client.emit({ type: 'question', question: permission() });
    expect(await screen()).not.toContain('Allow Bash?');
    expect(prompts()).toHaveLength(1);
    finish(0);
    input.end();
    await pause(20);
    expect(output).toEqual(['/status']);
    expect(prompts()).toHaveLength(2);
    expect(ended).toBe(false);
    finish(1);
    await pause(20);
    expect(ended).toBe(true);
    expect(client.answers).toEqual([]);
    terminal.close();
  });
});
