import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolCallView } from '../../src/client/events.js';
import type { Question } from '../../src/client/questions.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { Terminal } from '../../src/tui/app.js';
import type { WindowSize } from '../../src/tui/screen/tail-renderer.js';
import type { TerminalOptions } from '../../src/tui/terminal-options.js';
import { createEmulator } from './emulator.js';
import { FakeClient } from './fake-client.js';

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

function setup(
  options: Partial<TerminalOptions> = {},
  size: WindowSize = { columns: 80, rows: 24 },
) {
  const emulator = createEmulator(size);
  const client = new FakeClient();
  let input: (data: string) => void = () => undefined;
  let resized: () => void = () => undefined;
  let resume: () => void = () => undefined;
  let raw = false;
  let time = 1_000;
  const terminal = new Terminal(client, {
    device: {
      write: (data) => emulator.write(data),
      size: () => emulator.size,
      onInput: (listener) => {
        input = listener;
      },
      onResize: (listener) => {
        resized = listener;
      },
      setRaw: (isRaw) => {
        raw = isRaw;
      },
      suspend: (onResume) => {
        resume = onResume;
      },
      close: () => undefined,
    },
    kind: 'full',
    colour: true,
    readText: () => undefined,
    version: '0.0.0',
    now: () => time,
    ...options,
  });
  open.push(terminal);
  const settle = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await emulator.settle();
  };
  return {
    emulator,
    client,
    terminal,
    isRaw: () => raw,
    resume: () => resume(),
    wait: (ms: number) => {
      time += ms;
    },
    settle,
    type: async (data: string) => {
      input(data);
      await settle();
    },
    typeNow: (data: string) => input(data),
    resize: (to: WindowSize) => {
      emulator.resize(to);
      resized();
    },
    screen: async () => {
      await settle();
      return emulator.rows().join('\n');
    },
  };
}

function question(id: string): Question {
  return {
    id,
    kind: 'permission',
    agent: MAIN_AGENT,
    reason: 'no rule allows it',
    askedAt: '',
    call: {
      toolUseId: 't',
      tool: 'Bash',
      summary: 'ls',
      input: { command: 'ls' },
      cwd: '/p',
      suggestedUpdates: [],
    },
    options: [
      { key: 'y', label: 'Yes, this once', answer: { behavior: 'allow' } },
      { key: 'n', label: 'No', answer: { behavior: 'deny' } },
    ],
  };
}

const call = (id: string, input: object): ToolCallView => ({
  toolUseId: id,
  tool: 'Bash',
  input,
  agent: MAIN_AGENT,
});

describe('the terminal', () => {
  it('sends what is typed, and a long paste as one prompt that it shows as a placeholder', async () => {
    const { client, type, screen } = setup();
    await type('hello\r');
    expect(client.sent).toMatchObject([
      { name: 'prompt', params: { content: [{ type: 'text', text: 'hello' }] } },
    ]);
    const pasted = 'row\n'.repeat(5000);
    await type(`see \u001b[200~${pasted}\u001b[201~`);
    expect(await screen()).toContain('> see [Pasted text #1: 5,001 lines, 20,000 bytes]');
    await type('\r');
    expect(client.sent[1]).toMatchObject({ params: { content: [{ text: `see ${pasted}` }] } });
    const id = String((client.sent[1]?.params as { id?: string } | undefined)?.id);
    client.emit({
      type: 'prompt',
      id,
      state: 'queued',
      named: true,
      content: [{ type: 'text', text: pasted }],
    });
    client.emit({ type: 'prompt', id, state: 'started', named: true });
    expect(await screen()).toContain('> see [Pasted text #1: 5,001 lines, 20,000 bytes]');
  });

  it('streams an answer, shows a tool with its output, and keeps both in the scrollback', async () => {
    const { client, screen, wait } = setup();
    client.emit({ type: 'state', state: 'running' });
    client.text('First **para', 'graph**.\n\nSec');
    expect(await screen()).toMatch(/First paragraph\.\n\nSec\n/);
    client.text('ond.');
    client.endText();
    client.emit({
      type: 'tool',
      call: call('t1', { command: 'make' }),
      state: { kind: 'running' },
    });
    client.emit({
      type: 'tool',
      call: call('t1', { command: 'make' }),
      state: { kind: 'output', text: 'compiling' },
    });
    wait(3000);
    const running = await screen();
    expect(running).toContain('● Bash make 3s\n  compiling');
    expect(running).toContain('Running tools 3s');
    client.emit({
      type: 'tool_result',
      call: { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make' } },
      result: { block: { type: 'tool_result', tool_use_id: 't1', content: 'built' }, uuid: 'u' },
    });
    client.emit({ type: 'state', state: 'idle' });
    const done = await screen();
    expect(done).toContain('✓ Bash make 3s\n  built');
    expect(done).not.toContain('compiling');
    expect(done.match(/First paragraph/g)).toHaveLength(1);
  });

  it('puts a question over the prompt, and a key typed before it does not answer', async () => {
    const { client, type, screen, wait } = setup();
    await type('y');
    client.emit({ type: 'question', question: question('q1') });
    await type('y\r');
    expect(client.answers).toEqual([]);
    expect(client.sent).toMatchObject([{ name: 'prompt', params: { content: [{ text: 'yy' }] } }]);
    expect(await screen()).toContain('Pause typing to answer');
    wait(5000);
    await type('\r');
    expect(client.answers).toEqual([]);
    await type('y');
    expect(client.answers).toEqual([{ id: 'q1', answer: { behavior: 'allow' } }]);
    expect(await screen()).not.toContain('Allow Bash?');
  });

  it('shows in an overlay that a question waits, and takes the answer after it was closed', async () => {
    const { client, type, typeNow, wait, screen, emulator } = setup();
    await type('\u000f');
    client.emit({ type: 'question', question: question('q1') });
    client.emit({ type: 'question', question: question('q2') });
    await screen();
    expect(emulator.screen().at(-1)).toBe('2 questions wait · Esc to answer');
    wait(5_000);
    typeNow('y');
    typeNow('q');
    // Typed blindly behind the key that closed the overlay.
    typeNow('y');
    expect(client.answers).toEqual([]);
    expect(await screen()).toContain('Allow Bash?');
    wait(5_000);
    await type('y');
    expect(client.answers).toEqual([{ id: 'q1', answer: { behavior: 'allow' } }]);
  });

  it('counts down to the expiry of a question', async () => {
    const { client, wait, screen } = setup();
    const expiresAt = new Date(Date.now() + 90_500).toISOString();
    client.emit({ type: 'question', question: { ...question('q1'), expiresAt } });
    expect(await screen()).toContain('expires in 1m 30s');
    wait(60_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await screen()).toMatch(/expires in (30|29)s/);
  });

  it('asks for the background of the terminal, and takes colours that are readable on it', async () => {
    const { client, type, screen, emulator } = setup();
    client.emit({ type: 'opened', info: {} as never });
    await screen();
    expect(emulator.sent).toContain('\u001b]11;?\u001b\\\u001b[c');
    await type('\u001b]11;rgb:ffff/ff');
    await type('ff/ffff\u001b\\\u001b[?62c');
    client.emit({ type: 'notice', level: 'warning', text: 'careful' });
    const seen = await screen();
    expect(seen).not.toContain('rgb');
    expect(emulator.sent).toContain('\u001b[38;5;130mcareful');
  });

  it.each([
    ['dark-daltonized', '38;5;208'],
    ['light-daltonized', '38;5;166'],
    ['dark-ansi', '31'],
  ])('has the theme %s', async (theme, red) => {
    const { client, screen, emulator } = setup({ settings: () => ({ theme }) });
    client.emit({ type: 'opened', info: {} as never });
    client.output = { text: 'failed', failed: true };
    await screen();
    expect(emulator.sent).not.toContain(']11;?');
    client.emit({
      type: 'command_output',
      line: '/x',
      output: { text: 'bad', failed: true },
      durationMs: 1,
    });
    await screen();
    expect(emulator.sent).toContain(`\u001b[${red}mbad`);
  });

  it('names the themes where there is no such one, and sends no colours where none are wanted', async () => {
    const { client, screen, emulator } = setup({
      colour: false,
      settings: () => ({ theme: 'pink' }),
    });
    client.emit({ type: 'opened', info: {} as never });
    expect(await screen()).toContain('There is no theme "pink". Themes: auto, dark');
    expect(emulator.sent).not.toContain(']11;?');
    expect(emulator.sent).not.toMatch(/\u001b\[(?:\d;)*[34]\d/);
  });

  it.each([
    { columns: 20, rows: 10 },
    { columns: 80, rows: 1 },
    { columns: 80, rows: 24 },
  ])('sends a paste of 50,000 lines as one prompt in a window of %o', async (size) => {
    const { client, typeNow, type, emulator } = setup({}, size);
    const pasted = Array.from({ length: 50_000 }, (_, row) => `${row} 漢字 👩‍👩‍👧 שלום`).join('\n');
    // As terminals send it: in chunks, with carriage returns for line ends.
    const bytes = `\u001b[200~${pasted.replaceAll('\n', '\r')}\u001b[201~`;
    for (let start = 0; start < bytes.length; start += 65_536) {
      typeNow(bytes.slice(start, start + 65_536));
    }
    await type('\r');
    const prompts = client.sent.filter(({ name }) => name === 'prompt');
    expect(prompts).toHaveLength(1);
    expect(JSON.stringify(prompts[0]?.params)).toContain(JSON.stringify(pasted).slice(1, -1));
    expect(emulator.sent.length).toBeLessThan(100_000);
    expect(emulator.sent).not.toMatch(/\u001b\[[23]J/);
  });

  it('interrupts with Esc and hands queued prompts back', async () => {
    const { client, type, screen } = setup();
    client.emit({ type: 'state', state: 'running' });
    client.emit({
      type: 'prompt',
      id: 'a',
      state: 'queued',
      named: false,
      content: [{ type: 'text', text: 'later' }],
    });
    expect(await screen()).toContain('⧗ later');
    await type('\u001b[27u');
    expect(client.sent.at(-1)).toEqual({ name: 'interrupt', params: { cancelQueued: true } });
    client.emit({ type: 'prompt', id: 'a', state: 'cancelled', named: false });
    expect(await screen()).toContain('> later');
  });

  it('clears with the first Ctrl+C and leaves with the second', async () => {
    const { terminal, type, screen } = setup();
    await type('half a prompt');
    await type('\u0003');
    expect(await screen()).toContain('Press Ctrl+C again to quit.');
    await type('\u0003');
    expect(await terminal.left).toBe('interrupted');
  });

  it('leaves with Ctrl+D and gives the window back', async () => {
    const { terminal, type, emulator, settle, isRaw } = setup();
    expect(isRaw()).toBe(true);
    await type('\u0004');
    expect(await terminal.left).toBe('left');
    terminal.close();
    await settle();
    expect(isRaw()).toBe(false);
    expect(emulator.sent.endsWith('\u001b[23;2t')).toBe(true);
    expect(emulator.sent).toContain('\u001b[?2004l');
  });

  it('gives the window back for Ctrl+Z and draws again afterwards', async () => {
    const { type, isRaw, resume, screen } = setup();
    await type('draft\u001a');
    expect(isRaw()).toBe(false);
    expect(await screen()).not.toContain('> draft');
    resume();
    expect(isRaw()).toBe(true);
    expect(await screen()).toContain('> draft');
  });

  it('opens lists and long texts in the alternate screen and runs what is chosen', async () => {
    const { client, type, emulator, settle } = setup();
    client.output = {
      text: 'Choose a model',
      choices: [
        { label: 'opus', line: '/model opus' },
        { label: 'haiku', line: '/model haiku', description: 'small' },
      ],
    };
    await type('/model\r');
    await settle();
    expect(emulator.isAlternate()).toBe(true);
    expect(emulator.screen().join('\n')).toContain('❯ opus');
    client.output = { text: Array.from({ length: 60 }, (_, index) => `row ${index}`).join('\n') };
    await type('hai\r');
    expect(client.sent.at(-1)).toEqual({ name: 'command', params: { line: '/model haiku' } });
    await settle();
    expect(emulator.screen().join('\n')).toContain('row 0');
    await type('/row 55\r');
    expect(emulator.screen().join('\n')).toContain('row 55');
    await type('q');
    expect(emulator.isAlternate()).toBe(false);
  });

  it('shows the whole transcript with search', async () => {
    const { client, type, emulator } = setup();
    client.emit({
      type: 'tool',
      call: call('t1', { command: 'seq 100' }),
      state: { kind: 'running' },
    });
    client.emit({
      type: 'tool_result',
      call: { type: 'tool_use', id: 't1', name: 'Bash', input: {} },
      result: {
        block: {
          type: 'tool_result',
          tool_use_id: 't1',
          content: Array.from({ length: 100 }, (_, n) => `n${n}`).join('\n'),
        },
        uuid: 'u',
      },
    });
    await type('\u000f');
    await type('/n77\r');
    expect(emulator.screen().join('\n')).toContain('n77');
  });

  it('completes while typing', async () => {
    const { client, type, screen } = setup();
    client.completions = [{ text: '/model ', from: 0, description: 'Choose the model' }];
    await type('/mo');
    expect(await screen()).toContain('/model   Choose the model');
    await type('\t');
    expect(await screen()).toContain('> /model');
  });

  it('shows the conversation that a session continues', async () => {
    const { client, screen } = setup();
    client.historyEntries = [
      { role: 'user', text: 'earlier prompt' },
      { role: 'assistant', text: 'earlier answer', tools: ['Bash'] },
    ];
    client.emit({ type: 'opened', info: {} as never });
    const seen = await screen();
    expect(seen).toContain('> earlier prompt');
    expect(seen).toContain('earlier answer');
  });

  it('changes the mode with Shift+Tab', async () => {
    const { client, type } = setup();
    await type('\u001b[Z');
    expect(client.sent).toEqual([{ name: 'configure', params: { mode: 'acceptEdits' } }]);
  });
});

describe('whatever happens', () => {
  type Step =
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'end' | 'tool' | 'result' | 'question' | 'closed' | 'notice' | 'key' }
    | { readonly kind: 'resize'; readonly columns: number; readonly rows: number };
  const words = fc.constantFrom(
    'word ',
    '漢字 ',
    '👩‍👩‍👧‍👦 ',
    '\n\n',
    '- item\n',
    '```js\ncode();\n',
    '```\n',
    '| a | b |\n|--|--|\n| 1 | 2 |\n',
    'שלום ',
    '\u001b[2J\u001b[3J',
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .array(words, { maxLength: 5 })
        .map((parts) => ({ kind: 'text' as const, text: parts.join('') })),
    },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom('end', 'tool', 'result', 'question', 'closed', 'notice', 'key')
        .map((kind) => ({ kind: kind as 'end' })),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('resize' as const),
        columns: fc.integer({ min: 20, max: 100 }),
        rows: fc.integer({ min: 1, max: 30 }),
      }),
    },
  );

  it('never erases the screen or the scrollback, and writes every notice once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { client, emulator, typeNow, resize, terminal } = setup();
        let count = 0;
        for (const next of steps) {
          if (next.kind === 'text') client.text(next.text);
          else if (next.kind === 'resize') resize(next);
          else if (next.kind === 'end') client.endText();
          else if (next.kind === 'tool')
            client.emit({
              type: 'tool',
              call: call(`t${count}`, { command: 'x\u001b[2J' }),
              state: { kind: 'running' },
            });
          else if (next.kind === 'question')
            client.emit({ type: 'question', question: question(`q${count}`) });
          else if (next.kind === 'closed')
            client.emit({ type: 'question_closed', id: `q${count}`, outcome: 'withdrawn' });
          else if (next.kind === 'notice')
            client.emit({ type: 'notice', level: 'info', text: `<${count++}>` });
          typeNow(next.kind === 'key' ? 'k' : '\u001b[I');
          await emulator.settle();
        }
        terminal.close();
        await emulator.settle();
        expect(emulator.sent).not.toMatch(/\u001b\[[23]J/);
        const seen = [
          ...emulator
            .rows()
            .join('\n')
            .matchAll(/<(\d+)>/g),
        ].map(([, id]) => Number(id));
        expect(seen).toEqual(Array.from({ length: count }, (_, id) => id));
      }),
      { numRuns: 100 },
    );
  });
});

describe('agents and tasks', () => {
  const child = { ...MAIN_AGENT, id: 'a1', path: 'main/reviewer#1', type: 'reviewer', depth: 1 };

  it('shows agents as a tree while they work, and tasks until they are done', async () => {
    const { client, screen, wait } = setup({}, { columns: 140, rows: 24 });
    client.emit({ type: 'state', state: 'running' });
    client.emit({
      type: 'task_started',
      taskId: 'a1',
      toolUseId: 't',
      description: 'reviews it',
      agent: child,
    });
    const usage = { totalTokens: 12_345, toolUses: 3, durationMs: 1 };
    const left = { usd: 0.4, tokens: 30_000, turns: 1, seconds: 65 };
    client.agents = [
      { agent: child, description: '', spent: { tokens: 12_345, costUsd: 0.012, left } },
    ];
    client.emit({ type: 'task_progress', agent: child, description: '', usage, lastTool: 'Grep' });
    const grep = { toolUseId: 't8', tool: 'Grep', input: {}, agent: child };
    client.emit({ type: 'tool', call: grep, state: { kind: 'running' } });
    const todos = [
      { content: 'first', status: 'completed' },
      { content: 'second', status: 'in_progress' },
    ];
    const todoCall = { toolUseId: 't9', tool: 'TodoWrite', input: { todos }, agent: MAIN_AGENT };
    client.emit({ type: 'tool', call: todoCall, state: { kind: 'running' } });
    await screen();
    wait(4000);
    await expect.poll(screen).toContain('· 4s ·');
    const seen = await screen();
    expect(seen).toContain(
      '└ reviewer#1  reviews it  Grep · 4s · 3 calls · 12k tokens · $0.012 · left: $0.400, 30k tokens, 1 turn, 1m 05s',
    );
    expect(seen).toContain('1 of 2 tasks done\n  ▶ second');
    const over = { toolUseId: 't', status: 'completed', outputFile: '', summary: 'fine' } as const;
    client.emit({ type: 'task_finished', taskId: 'a1', ...over });
    client.emit({ type: 'task_finished', taskId: 'b7', ...over });
    const after = await screen();
    expect(after).not.toContain('reviewer#1');
    expect(after).not.toContain('a1 completed');
    expect(after).toContain('b7 completed: fine');
  });

  it('says what the model is retried for, and shows thinking folded', async () => {
    const { client, screen, wait } = setup();
    const thinking = (text: string) => ({ type: 'thinking_delta', thinking: text }) as const;
    client.emit({
      type: 'stream',
      event: { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
    });
    client.emit({
      type: 'stream',
      event: { type: 'content_block_delta', index: 0, delta: thinking('deep thoughts') },
    });
    wait(2000);
    client.endText();
    const seen = await screen();
    expect(seen).toContain('✻ Thought for 2s');
    expect(seen).not.toContain('deep thoughts');
  });
});
