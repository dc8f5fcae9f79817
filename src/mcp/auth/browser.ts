import { parseUrl } from '../../lib/parse-url.js';
import { type Environment, shellEnvironment } from '../../platform/environment.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';

/** The programs that show an address in a person's browser, by system. Each takes it as one argument. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['/usr/bin/open'],
  // Not `start`: that is a word of the shell, and `&` in an address would end it.
  win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
};

/** How long the program may take to hand the address over. */
const TIMEOUT_MS = 10_000;

/** Shows a page. Never through a shell, and nothing but web pages. False when that did not work. */
export async function openBrowser(
  url: string,
  deps: {
    readonly processes: Pick<ProcessSupervisor, 'run'>;
    readonly env: Environment;
    readonly cwd: string;
    readonly platform: string;
  },
): Promise<boolean> {
  // fail-closed: another scheme would start another program.
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? '')) return false;
  const [command = 'xdg-open', ...args] = OPENERS[deps.platform] ?? ['xdg-open'];
  const result = await deps.processes.run({
    command,
    // Written anew: no blank, quote or control character is left in it.
    args: [...args, new URL(url).href],
    cwd: deps.cwd,
    env: shellEnvironment(deps.env),
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 4096,
    label: 'browser for signing in',
  });
  return result.exitCode === 0;
}
