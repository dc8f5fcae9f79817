import { existsSync } from 'node:fs';
import { dirname, findRepositoryRoot, join, resolve } from '../env/paths.js';
import type { McpQuestion } from './commands/mcp-question.js';

/** Asks about servers of the project, if it has any; most have none, and then nothing is loaded. */
export async function askAboutServers(question: McpQuestion): Promise<void> {
  if (!hasServers(question.config.cwd)) return;
  const { settleServers } = await import('./commands/mcp-question.js');
  await settleServers(question);
}

function hasServers(cwd: string): boolean {
  const start = resolve(cwd);
  const root = findRepositoryRoot(start) ?? start;
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.mcp.json'))) return true;
    if (at === root || dirname(at) === at) return false;
  }
}
