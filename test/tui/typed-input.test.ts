import { afterEach, describe, expect, it } from 'vitest';
import { PortcullisError } from '../../src/errors.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { Terminal } from '../../src/tui/app.js';
import type { TerminalOptions } from '../../src/tui/terminal-options.js';
import { createEmulator } from './emulator.js';
import { FakeClient } from './fake-client.js';

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

function setup(options: Partial<TerminalOptions> = {}) {
  const emulator = createEmulator({ columns: 80, rows: 24 });
  const client = new FakeClient();
  let input: (data: string) => void = () => undefined;
  const device = {
    write: (data: string) => emulator.write(data),
    size: () => emulator.size,
    onInput: (listener: (data: string) => void) => {
      input = listener;
    },
    onResize: () => undefined,
    setRaw: () => undefined,
    suspend: () => undefined,
    close: () => undefined,
  };
  const facts = {
    kind: 'full' as const,
    colour: true,
    readText: () => undefined,
    version: '0',
    now: () => 1_000,
  };
  open.push(new Terminal(client, { device, ...facts, ...options }));
  const type = async (data: string): Promise<string> => {
    input(data);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await emulator.settle();
    return emulator.rows().join('\n');
  };
  const sent = (...names: readonly string[]) =>
    client.sent.filter(({ name }) => names.includes(name));
  return { client, type, sent };
}

const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;

describe('a line with ! in the terminal', () => {
  it('runs as a shell command, shows it as a card, and stays in the history', async () => {
    const { client, type, sent } = setup();
    await type('! echo hi\r');
    expect(sent('shell', 'prompt')).toEqual([{ name: 'shell', params: { command: 'echo hi' } }]);
    const call = {
      toolUseId: 't1',
      tool: 'Bash',
      input: { command: 'echo hi' },
      agent: MAIN_AGENT,
    };
    client.emit({ type: 'shell', call });
    client.emit({ type: 'tool', call, state: { kind: 'pending' } });
    client.emit({ type: 'tool', call, state: { kind: 'running' } });
    expect(await type('')).toContain('echo hi');
    const block = { type: 'tool_result', tool_use_id: 't1', content: 'hi there' } as const;
    client.emit({ type: 'shell', call, result: { block, uuid: 'u' } });
    expect(await type('')).toContain('hi there');
    expect(await type('\u001b[A')).toContain('> ! echo hi');
  });

  it('comes back into the prompt where it cannot run now', async () => {
    const { client, type } = setup();
    const remedy = 'interrupt it or wait for its end, then run the command';
    client.refusals.set('shell', new PortcullisError('usage', 'a turn is running', { remedy }));
    const screen = await type('!ls\r');
    expect(screen).toContain('a turn is running · interrupt it');
    expect(screen).toContain('> !ls');
  });

  it('is not run from pasted lines, with or without marks around the paste', async () => {
    const { type, sent } = setup();
    expect(await type(`${paste('!touch a\n!touch b')}\r`)).toContain('a ! command is one line');
    await type('\u0015\u0015\u0015\u0008\u0015');
    await type('\u0003');
    expect(await type('!touch a\r!touch b\rhello\r')).toContain('!touch a');
    expect(sent('shell', 'prompt')).toEqual([]);
  });

  it('is not run from the last of several lines that came at once', async () => {
    const { type, sent } = setup();
    expect(await type('hello\r!touch a\r')).toContain('!touch a');
    expect(sent('shell')).toEqual([]);
    await type('\r');
    expect(sent('shell')).toHaveLength(1);
  });

  it('is not run from a placeholder or a prompt of the command line', async () => {
    const { type, sent } = setup({ prompt: '! touch a' });
    await type(`${paste('!a\n!b\n!c\n!d\n!e')}\r`);
    await type(`!cat ${paste('1\n2\n3\n4\n5')}\r`);
    expect(sent('shell')).toEqual([]);
    expect(sent('prompt')).toHaveLength(2);
  });
});

describe('a line with # in the terminal', () => {
  it('is a note, and a heading of a longer text is not', async () => {
    const { type, sent } = setup();
    expect(await type('# Use tabs\r')).toContain('Added to /p/CLAUDE.md.');
    await type(`${paste('# Title\ntext')}\r`);
    expect(sent('remember')).toEqual([{ name: 'remember', params: { text: 'Use tabs' } }]);
    expect(sent('prompt')).toHaveLength(1);
  });
});

const block = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
} as const;

describe('an image in the terminal', () => {
  it('is pasted as a placeholder that goes as one, and sent as a block', async () => {
    const { client, type, sent } = setup({ clipboardImage: async () => 'AAAA' });
    client.image = { block, bytes: 24_576 };
    expect(await type('look \u0016')).toContain('> look [Image #1 · 24 KB]');
    expect(await type('\u007f')).not.toContain('[Image #1');
    await type('\u0016');
    expect(await type(' now')).toContain('> look [Image #2 · 24 KB] now');
    await type('\r');
    const text = 'look [Image #2 · 24 KB] now';
    expect(sent('prompt')[0]?.params).toMatchObject({ content: [{ type: 'text', text }, block] });
  });

  it('is read by its path, and the prompt is sent where that fails', async () => {
    const { client, type, sent } = setup();
    client.image = { block, bytes: 3 };
    await type('see shot.png\r');
    expect(sent('image')).toEqual([{ name: 'image', params: { path: 'shot.png' } }]);
    expect(sent('prompt')[0]?.params).toMatchObject({ content: [{ type: 'text' }, block] });
    client.refusals.set('image', new PortcullisError('tool', 'a deny rule names it'));
    expect(await type('see other.png\r')).toContain('not attached: a deny rule names it');
    expect(sent('prompt')).toHaveLength(2);
  });

  it('is missed with a message where the clipboard has none', async () => {
    const { type } = setup({ clipboardImage: async () => undefined });
    expect(await type('\u0016')).toContain('There is no image on the clipboard.');
  });
});

describe('completion in the terminal', () => {
  it('is asked for at each key and drops answers to older text', async () => {
    const { client, type, sent } = setup();
    client.completions = [{ text: 'src/app.ts ', from: 1 }];
    expect(await type('@ap')).toContain('src/app.ts');
    expect(sent('complete')).toHaveLength(3);
    expect(await type('\t')).toContain('> @src/app.ts');
  });
});
