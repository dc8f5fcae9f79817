import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

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
