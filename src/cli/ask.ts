import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { MAIN_AGENT } from '../protocol/agent-ref.js';

/** Reads a line from the terminal, without showing it when `hidden`. Undefined: Ctrl+C or the end of input. */
export async function askLine(
  question: string,
  options: { readonly hidden?: boolean } = {},
): Promise<string | undefined> {
  const hidden = options.hidden === true;
  process.stdout.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({
    input: process.stdin,
    output: hidden ? silent : process.stdout,
    prompt: hidden ? '' : question,
    terminal: true,
  });
  return await new Promise((resolve) => {
    reader.once('SIGINT', () => reader.close());
    reader.once('close', () => {
      if (hidden) process.stdout.write('\n');
      resolve(undefined);
    });
    reader.once('line', (line) => {
      resolve(line);
      reader.close();
    });
  });
}

/** Asks the person at the terminal a yes-or-no question, for commands that run without a session. */
export async function confirmAtTerminal(title: string): Promise<boolean> {
  // fail-closed: a pipe is no person.
  if (!hasTerminal()) return false;
  const { Asker } = await import('./asker.js');
  const asker = new Asker(process.stdout);
  const answer = await asker.ask({
    id: 'confirm',
    kind: 'confirm',
    topic: 'trust',
    agent: MAIN_AGENT,
    reason: '',
    askedAt: '',
    title,
    details: [],
    options: [
      { key: 'y', label: 'Yes' },
      { key: 'n', label: 'No' },
    ],
  });
  return 'option' in answer && answer.option === 'y';
}

/** Whether a person sees what is printed and types what is read. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}
