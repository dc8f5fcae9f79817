import type { Console, ConsoleOptions } from '../console/serve.js';

/**
 * Serves the console of `portcullis console` from this program: one page for all sessions of this user, those of
 * this program among them.
 */
export async function serveConsole(options: Partial<ConsoleOptions> = {}): Promise<Console> {
  const { serveConsole: serve } = await import('../console/serve.js');
  // The built page is beside the built library.
  const built = decodeURIComponent(new URL('../console', import.meta.url).pathname);
  return await serve({ pageDirectory: built, ...options });
}
