import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CommandOutput, SessionEvent } from '../client/events.js';
import type { AnyAnswer, Question } from '../client/questions.js';
import type { SessionClient } from '../client/session-client.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import { createDialogs } from './dialog.js';
import { PlainRepl } from './plain-repl.js';
import { PlainRenderer } from './render.js';
import { TerminalInput } from './terminal-input.js';

/** A session in memory: takes what the client sends, and shows what the test emits. */
class FakeSession {
  readonly sent: string[] = [];
  readonly answers: AnyAnswer[] = [];
  readonly outputs = new Map<string, CommandOutput>();
  #listener: ((event: SessionEvent) => void) | undefined;
  #seq = 0;

  emit(...events: readonly unknown[]): void {
    for (const event of events) this.#listener?.(event as SessionEvent);
  }

  readonly client = {
    name: 'terminal',
    sessionId: 's1',
    subscribe: (listener: (envelope: unknown) => void) => {
      this.#listener = (event) => {
        this.#seq++;
        listener({ seq: this.#seq, time: '', event });
      };
      return () => undefined;
    },
    send: async (name: string, params: Readonly<Record<string, unknown>>) => {
      this.sent.push(`${name} ${JSON.stringify(params.line ?? params.content ?? params)}`);
      if (name === 'prompt') this.lastPrompt = String(params.id);
      if (name === 'interrupt') return { interrupted: this.isRunning, stillQueued: [] };
      if (name === 'command') return this.outputs.get(String(params.line)) ?? { text: '' };
      return name === 'history' ? [{ role: 'user', text: 'earlier' }] : {};
    },
    answer: async (_id: string, answer: AnyAnswer) => {
      this.answers.push(answer);
      return 'accepted';
    },
  } as unknown as SessionClient;

  lastPrompt = '';
  isRunning = false;
}

const TURN = { problem: '', text: '', queued: 0, prompts: [] };
const delta = (text: string) => ({
  type: 'stream',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
});

function setup({ isTerminal = true }: { readonly isTerminal?: boolean } = {}) {
  const session = new FakeSession();
  const keys = new PassThrough();
  let screen = '';
  const out = (text: string): void => {
    screen += text;
  };
  const output = new PassThrough();
  output.on('data', (bytes) => out(String(bytes)));
  const reader = createInterface({ input: keys, output, terminal: isTerminal });
  let repl: PlainRepl | undefined;
  const input = new TerminalInput({
    reader,
    keys: isTerminal ? keys : new EventEmitter(),
    isTerminal,
    out,
    onLine: (line) => repl?.take(line),
  });
  const options = { colour: false, width: () => 80, streams: () => true };
  repl = new PlainRepl({
    client: session.client,
    input,
    dialogs: createDialogs({ ask: input.ask, out: (text) => input.print(text) }),
    renderer: new PlainRenderer(options),
    isTerminal,
  });
  const current = repl;
  reader.on('close', () => current.end());
  const type = async (text: string): Promise<void> => {
    keys.write(text);
    await pause(60);
  };
  return { session, repl: current, type, input, reader, screen: () => screen };
}

const QUESTION: Question = {
  id: 'q1',
  agent: { ...MAIN_AGENT, path: 'main/helper#1', depth: 1, background: true },
  reason: 'No rule allows it',
  askedAt: '',
  kind: 'permission',
  call: {
    toolUseId: 't',
    tool: 'Bash',
    summary: '',
    input: { command: 'git push' },
    cwd: '/p',
    suggestedUpdates: [],
  },
  options: [
    { key: 'y', label: 'Yes, this once', answer: { behavior: 'allow' } },
    { key: 'n', label: 'No', answer: { behavior: 'deny' } },
  ],
};

describe('the plain conversation', () => {
  it('sends what is typed and shows text as it comes', async () => {
    const { session, repl, type, screen } = setup();
    repl.begin(undefined);
    await type('hello\r');
    expect(session.sent).toEqual(['prompt [{"type":"text","text":"hello"}]']);
    session.emit({ type: 'turn_started', info: {}, prompts: [] }, delta('One'), delta(' two'));
    expect(screen()).toContain('One two');
    const answer = { message: { content: [{ type: 'text', text: 'One two' }] } };
    session.emit({ type: 'stream', event: { type: 'content_block_stop', index: 0 } });
    session.emit({ type: 'answer', answer });
    session.emit({ type: 'prompt', id: session.lastPrompt, state: 'completed' });
    session.emit({ type: 'turn_finished', turn: TURN });
    await pause(10);
    expect(screen().match(/One two/g)).toHaveLength(1);
    expect(screen()).toMatch(/One two\n[^\n]*> /);
  });

  it('takes a bracketed paste and continued lines as one prompt each', async () => {
    const { session, repl, type } = setup();
    repl.begin(undefined);
    await type('\u001b[200~a\tb\rc\u001b[201~');
    expect(session.sent).toEqual([]);
    await type('d\r');
    await type('one \\\rtwo\r');
    expect(session.sent).toEqual([
      'prompt [{"type":"text","text":"a\\tb\\ncd"}]',
      'prompt [{"type":"text","text":"one \\ntwo"}]',
    ]);
  });

  it('answers a question of a background agent where it appears, and only with later keys', async () => {
    const { session, repl, type, screen } = setup();
    repl.begin(undefined);
    await type('y');
    session.emit({ type: 'question', question: QUESTION });
    await pause(700);
    expect(screen()).toContain('? main/helper#1 · Bash: git push');
    await type('\r');
    expect(session.answers).toEqual([
      { behavior: 'deny', message: 'The user said no.', interrupt: true },
    ]);
    // The half-typed line is back.
    expect(screen()).toMatch(/> [^\n]*y$/);
    await type('\r');
    expect(session.sent).toEqual(['prompt [{"type":"text","text":"y"}]']);
  });

  it('holds other output back while a question is open', async () => {
    const { session, repl, type, screen } = setup();
    repl.begin(undefined);
    session.emit({ type: 'question', question: QUESTION });
    await pause(60);
    session.emit({ type: 'notice', level: 'warning', text: 'MEANWHILE' });
    expect(screen()).not.toContain('MEANWHILE');
    await type('y\r');
    expect(session.answers).toEqual([{ behavior: 'allow' }]);
    expect(screen()).toContain('MEANWHILE');
  });

  it('leaves a question that another client answered', async () => {
    const { session, repl, type } = setup();
    repl.begin(undefined);
    session.emit({ type: 'question', question: QUESTION });
    await pause(60);
    await type('y');
    session.emit({ type: 'question_closed', id: 'q1', outcome: 'answered', by: 'console' });
    await type('\r');
    expect(session.answers).toEqual([]);
    expect(session.sent).toEqual([]);
  });

  it('runs the choice of a command, and puts a draft into the line', async () => {
    const { session, repl, type, screen } = setup();
    session.outputs.set('/rewind', {
      text: 'Which?',
      choices: [{ label: 'first\u001b[2J', line: '/rewind 1' }],
    });
    session.outputs.set('/rewind 1', { text: 'Done.', draft: 'again' });
    repl.begin(undefined);
    await type('/rewind\r');
    expect(screen()).toContain('1  first[2J');
    await type('1\r');
    expect(session.sent).toEqual(['command "/rewind"', 'command "/rewind 1"']);
    expect(screen()).toMatch(/> [^\n]*again$/);
  });

  it('puts a question that comes during a choice after it', async () => {
    const { session, repl, type, screen } = setup();
    session.outputs.set('/mode', { text: '', choices: [{ label: 'plan', line: '/mode plan' }] });
    repl.begin(undefined);
    await type('/mode\r');
    session.emit({ type: 'question', question: QUESTION });
    await type('1');
    expect(screen()).not.toContain('Allow?');
    await type('\r');
    expect(session.sent).toEqual(['command "/mode"', 'command "/mode plan"']);
    await pause(60);
    expect(screen()).toContain('Allow?');
    await type('y\r');
    expect(session.answers).toEqual([{ behavior: 'allow' }]);
  });

  it('clears with the first Ctrl+C at the prompt and leaves with the second', async () => {
    const { session, repl, type, reader } = setup();
    reader.on('SIGINT', () => repl.interrupt());
    repl.begin(undefined);
    await type('half\u0003');
    await type('\u0003');
    expect(await repl.left).toBe('interrupted');
    expect(session.sent).toEqual([]);
  });

  it('interrupts a running turn and drops what is queued', async () => {
    const { session, repl, screen } = setup();
    repl.begin(undefined);
    session.isRunning = true;
    session.emit({ type: 'turn_started', info: {}, prompts: [] });
    repl.interrupt();
    await pause(10);
    expect(session.sent).toEqual(['interrupt {"cancelQueued":true}']);
    expect(screen()).toContain('Press Ctrl+C again to quit.');
  });

  it('wakes for background work: the prompt returns after the turn', async () => {
    const { session, repl, type, screen } = setup();
    repl.begin(undefined);
    await type('half');
    session.emit({ type: 'turn_started', info: {}, prompts: [] });
    session.emit({ type: 'notice', level: 'info', text: 'a report' });
    session.emit({ type: 'turn_finished', turn: { ...TURN, problem: 'It failed' } });
    expect(screen()).toContain('! a report');
    expect(screen()).toMatch(/! It failed[\s\S]*> half/);
  });

  it('shows the reason and the wait of a retry', async () => {
    const { session, repl, screen } = setup();
    repl.begin(undefined);
    const failure = { kind: 'overloaded', message: 'The server is busy', retryable: true };
    const event = { type: 'retry', attempt: 2, maxRetries: 10, delayMs: 1_500, failure };
    session.emit({ type: 'turn_started', info: {}, prompts: [] }, { type: 'retry', event });
    expect(screen()).toContain('! The server is busy; trying again in 1.5 s (2 of 10)');
  });
});

describe('a pipe', () => {
  it('runs line by line, answers nothing, and leaves when all is done', async () => {
    const { session, repl, type, reader } = setup({ isTerminal: false });
    repl.begin(undefined);
    await type('one\ntwo\n');
    expect(session.sent).toEqual(['prompt [{"type":"text","text":"one"}]']);
    session.emit({ type: 'question', question: QUESTION });
    session.emit({ type: 'prompt', id: session.lastPrompt, state: 'completed' });
    await pause(10);
    expect(session.sent).toHaveLength(2);
    reader.close();
    session.emit({ type: 'prompt', id: session.lastPrompt, state: 'completed' });
    expect(await repl.left).toBe('left');
    expect(session.answers).toEqual([]);
  });
});
