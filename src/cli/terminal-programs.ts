import { type ExecFileException, execFile, spawn } from 'node:child_process';
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

/** Programs that print the image on the clipboard, in the order in which they are tried. */
const CLIPBOARDS: readonly (readonly string[])[] = [
  ['wl-paste', '--no-newline', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['osascript', '-e', 'get the clipboard as «class PNGf»'],
];
const MOST_IMAGE = 32 * 1024 * 1024;

/** The image on the clipboard as base64; undefined: there is none. */
export async function clipboardImage(env: Environment): Promise<string | undefined> {
  let hasProgram = false;
  for (const [program = '', ...args] of CLIPBOARDS) {
    const { error, bytes } = await output(program, args, env);
    if (error?.code === 'ENOENT') continue;
    hasProgram = true;
    if (error !== null || bytes.length === 0) continue;
    // AppleScript prints bytes as hexadecimal digits.
    const digits = /«data PNGf([0-9A-F]+)»/.exec(
      bytes.subarray(0, MOST_IMAGE).toString('utf8'),
    )?.[1];
    return (digits === undefined ? bytes : Buffer.from(digits, 'hex')).toString('base64');
  }
  if (hasProgram) return undefined;
  throw new Error('Install wl-paste or xclip to paste images, or type the path of an image.');
}

function output(program: string, args: readonly string[], env: Environment) {
  return new Promise<{ error: ExecFileException | null; bytes: Buffer }>((resolve) => {
    const options = {
      env: { ...env },
      encoding: 'buffer',
      maxBuffer: MOST_IMAGE,
      timeout: 5_000,
    } as const;
    execFile(program, args, options, (error, bytes) => resolve({ error, bytes }));
  });
}
