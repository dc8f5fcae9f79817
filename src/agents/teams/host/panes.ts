import { execFile } from 'node:child_process';
import { err, ok, type Result } from '../../../lib/result.js';

/** A program to run in a terminal pane. */
export interface PaneOrder {
  readonly way: 'tmux' | 'iterm2';
  readonly team: string;
  readonly name: string;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Environment variables of the new program, visible to other users. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Identifies the server and the environment of a pane. */
type PanePlace = Pick<PaneOrder, 'way' | 'team' | 'env'>;

const DEADLINE_MS = 20_000;
const CONTROL = /\p{Cc}/u;

/** Opens a pane and returns its id, or the reason why it cannot. */
export function openPane(order: PaneOrder): Promise<Result<string, string>> {
  return order.way === 'tmux' ? openTmux(order) : openIterm(order);
}

/** Whether the pane still exists. */
export async function isPaneOpen(pane: string, place: PanePlace): Promise<boolean> {
  if (place.way === 'iterm2') return true;
  const seen = await tmux([...serverOf(place), 'list-panes', '-a', '-F', '#{pane_id}'], place);
  return seen.ok && seen.value.split('\n').includes(pane);
}

/** Closes the pane with its program; an already closed one is ignored. */
export async function closePane(pane: string, place: PanePlace): Promise<void> {
  if (place.way === 'tmux') await tmux([...serverOf(place), 'kill-pane', '-t', pane], place);
  else await call('it2', ['session', 'close', '-f', '-s', pane], place);
}

/** Inside tmux the caller's server; otherwise a separate server of the team that a person can attach to. */
function serverOf({ team, env }: Pick<PaneOrder, 'team' | 'env'>): readonly string[] {
  return (env.TMUX ?? '') === '' ? ['-L', `portcullis-${team}`] : [];
}

async function openTmux(order: PaneOrder): Promise<Result<string, string>> {
  const { team, name, argv, env } = order;
  const server = serverOf(order);
  const beside = env.TMUX_PANE ?? '';
  const place =
    server.length === 0
      ? ['split-window', '-d', '-h', ...(beside === '' ? [] : ['-t', beside])]
      : ['new-session', '-d', '-s', `${team}-${name}`, '-x', '160', '-y', '48'];
  const variables = assignments(order).flatMap((one) => ['-e', one]);
  // No `-c`, because tmux expands its value, including commands; a pane starts in the caller's directory anyway.
  const shown = ['-P', '-F', '#{pane_id}', ...variables];
  // The program's arguments are passed as such, without a shell.
  const opened = await tmux([...server, ...place, ...shown, '--', ...argv], order);
  if (!opened.ok) return err(`tmux opened no pane: ${opened.error}`);
  const pane = opened.value.trim();
  // fail-closed: without its id the pane could not be closed.
  if (!/^%\d+$/.test(pane)) return err(`tmux named no pane, but said "${pane.slice(0, 80)}"`);
  await tmux([...server, 'select-pane', '-t', pane, '-T', name], order);
  return ok(pane);
}

function assignments({ variables }: PaneOrder): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

async function openIterm(order: PaneOrder): Promise<Result<string, string>> {
  const { cwd, argv } = order;
  // A shell reads this line.
  const words = [...assignments(order), ...argv].map(quoted).join(' ');
  const line = `cd ${quoted(cwd)} && exec env ${words}`;
  // fail-closed: the line is typed, so a control character would be a key press.
  if (CONTROL.test(line)) return err('a name in it has characters that cannot be typed');
  const opened = await call('it2', ['session', 'split', '-v'], order);
  if (!opened.ok) {
    return err(`iTerm2 opened no pane (it2 has to be installed and allowed): ${opened.error}`);
  }
  const pane = /Created new pane: ([\w-]{1,64})/.exec(opened.value)?.[1];
  if (pane === undefined) return err('it2 named no pane');
  const run = await call('it2', ['session', 'run', '-s', pane, line], order);
  return run.ok ? ok(pane) : err(`iTerm2 did not start it: ${run.error}`);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** tmux treats a trailing `;` of an argument as the end of the command. */
function tmux(args: readonly string[], from: Caller): Promise<Result<string, string>> {
  return call(
    'tmux',
    args.map((word) => word.replace(/;$/, '\\;')),
    from,
  );
}

type Caller = Pick<PaneOrder, 'env'> & Partial<Pick<PaneOrder, 'cwd'>>;

function call(
  program: string,
  args: readonly string[],
  { env, cwd }: Caller,
): Promise<Result<string, string>> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { env: plain(env), timeout: DEADLINE_MS, encoding: 'utf8', cwd },
      (error, stdout, stderr) => {
        if (error === null) resolve(ok(stdout));
        else resolve(err((stderr.trim() || error.message).split('\n')[0] ?? ''));
      },
    );
  });
}

/** Variables needed to find the program and the terminal; a server started here keeps its environment. */
const VARIABLES =
  'PATH HOME TMUX TMUX_PANE TMUX_TMPDIR TMPDIR TERM LANG LC_ALL SHELL USER ITERM_SESSION_ID';

function plain(env: PaneOrder['env']): Record<string, string | undefined> {
  return Object.fromEntries(VARIABLES.split(' ').map((name) => [name, env[name]]));
}
