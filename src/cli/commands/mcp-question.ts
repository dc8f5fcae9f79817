import type { ProjectTrust, SessionConfig } from '../../harness.js';
import { openProject } from '../../project/project.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import type { AskLine } from '../terminal-input.js';

export interface McpQuestion {
  readonly config: Pick<
    SessionConfig,
    'cwd' | 'env' | 'trust' | 'settings' | 'settingSources' | 'mcpConfig' | 'strictMcpConfig'
  >;
  readonly trust: ProjectTrust | undefined;
  out(text: string): void;
  readonly ask: AskLine;
}

/**
 * Before a conversation, after the question of trust: asks about each server of the project that
 * nobody has agreed to. A no is kept too; no answer leaves the server as it is, unused.
 */
export async function settleServers(question: McpQuestion): Promise<void> {
  const { config, out } = question;
  const project = openProject(config.cwd, {
    env: config.env,
    projectTrust: question.trust,
    trust: config.trust ? 'given' : 'as it is',
    settings: config.settings,
    sources: config.settingSources,
    mcpConfig: config.mcpConfig,
    strictMcpConfig: config.strictMcpConfig,
    trustNotice: 'silent',
  });
  for (const server of await project.pendingServers()) {
    const name = visible(server.name);
    const lines = server.details.map((detail) => `  ${detail}\n`);
    const line = await question.ask(
      `\n.mcp.json of this folder has a server "${name}" (${server.reason}):\n${lines.join('')}Use it? [y/n] `,
    );
    if (line === undefined) return;
    const answer = line.trim();
    // fail-closed: anything but a clear yes is a no.
    if (/^(y|yes)$/i.test(answer)) {
      await server.approve();
      out('Approved until its entry changes.\n');
    } else if (/^(n|no)$/i.test(answer)) {
      await server.decline();
      out(
        `Declined. \`portcullis mcp approve ${visible(shellWord(server.name))}\` changes that.\n`,
      );
    } else out('Not used in this session.\n');
  }
}
