import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Lets the user's editor change a text. Undefined: the editor failed. */
export async function editText(text: string, env: Environment): Promise<string | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-prompt-'));
  const file = join(directory, 'prompt.md');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const editor = env.VISUAL ?? env.EDITOR ?? 'vi';
    // The variables hold a command with arguments, as a shell would read it.
    const code = await exitCode(
      spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env: { ...env } }),
    );
    return code === 0 ? readFileSync(file, 'utf8') : undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const STATUS_TIMEOUT_MS = 2_000;
const MOST_STATUS = 4_000;

/** Runs the user's status line command: facts as JSON on its input, the line on its output. Rejects where it fails. */
export async function runStatusCommand(
  command: string,
  facts: Readonly<Record<string, unknown>>,
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): Promise<string | undefined> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const timer = setTimeout(() => {
    // The group: what the command started ends with it.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, STATUS_TIMEOUT_MS);
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    if (text.length < MOST_STATUS) text += chunk;
  });
  // A command that does not read its input is not at fault.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(facts)}\n`);
  const code = await exitCode(child);
  clearTimeout(timer);
  if (code === null) throw new Error(`it took longer than ${STATUS_TIMEOUT_MS / 1_000} s`);
  if (code !== 0) throw new Error(`exit code ${code}`);
  return text.trim() === '' ? undefined : text.trimEnd();
}

function exitCode(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
