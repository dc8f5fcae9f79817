import type { ProjectTrust, SessionConfig } from '../../harness.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import type { AskLine } from '../terminal-input.js';
import { mcpHere } from './mcp-here.js';

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
  const here = await mcpHere({
    cwd: config.cwd,
    env: config.env,
    trust: question.trust,
    trustGiven: config.trust,
    settings: config.settings,
    sources: config.settingSources,
    dynamic: config.mcpConfig ?? [],
    strict: config.strictMcpConfig === true,
  });
  const { servers, hidden, describe, standsFor, project } = here.configuration;
  const pending = [...servers, ...hidden].filter(
    ({ standing }) => standing.kind === 'pending-approval',
  );
  for (const server of pending) {
    const reason = server.standing.kind === 'ready' ? '' : server.standing.reason.split(';')[0];
    const lines = [...describe(server), ...standsFor(server)].map((line) => `  ${line}\n`);
    const line = await question.ask(
      `\n.mcp.json of this folder has a server "${visible(server.name)}" (${reason}):\n${lines.join('')}Use it? [y/n] `,
    );
    if (line === undefined) return;
    const answer = line.trim();
    // fail-closed: anything but a clear yes is a no.
    if (/^(y|yes)$/i.test(answer)) {
      await here.approvals.approve(project, server);
      out('Approved until its entry changes.\n');
    } else if (/^(n|no)$/i.test(answer)) {
      await here.approvals.decline(project, server);
      out(
        `Declined. \`portcullis mcp approve ${visible(shellWord(server.name))}\` changes that.\n`,
      );
    } else out('Not used in this session.\n');
  }
}
