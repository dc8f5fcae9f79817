import { nodeFileSystem } from '../env/node-fs.js';
import { lookAtLevels } from '../env/project-levels.js';
import type { McpQuestion } from './commands/mcp-question.js';

/** Asks about servers of the project, if it has any; most have none, and then nothing is loaded. */
export async function askAboutServers(question: McpQuestion): Promise<void> {
  const levels = lookAtLevels(nodeFileSystem, question.config.cwd);
  if (!levels.some(({ hasServers }) => hasServers)) return;
  const { settleServers } = await import('./commands/mcp-question.js');
  await settleServers(question);
}
