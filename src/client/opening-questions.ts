import type { AskIncludes, ProjectTrust, SessionConfig } from '../app.js';
import { visible } from '../lib/text/visible.js';
import type { PendingServer } from '../project/mcp/mcp.js';
import { openProject } from '../project/project.js';
import { trustRequestText } from '../project/trust.js';
import type { ConfirmQuestion } from './questions.js';

/** How the questions of an opening session reach its clients. */
export interface OpeningClients {
  /** Resolves to the key of an option. Undefined: no client answered, which refuses. */
  confirm(question: Omit<ConfirmQuestion, 'kind'>): Promise<string | undefined>;
  /** Shows what became of an answer. */
  notify(text: string): void;
}

/**
 * Asks what has to be known before a session opens: whether the folder is trusted, and which of its MCP
 * servers are used. Undefined: the person does not want the session at all.
 */
export async function askOpeningQuestions(
  clients: OpeningClients,
  config: Omit<SessionConfig, 'emit'>,
): Promise<ProjectTrust | undefined> {
  const isGiven = config.trust || config.env.PORTCULLIS_TRUST === 'once';
  const options = {
    env: config.env,
    sources: config.settingSources,
    settings: config.settings,
    mcpConfig: config.mcpConfig,
    strictMcpConfig: config.strictMcpConfig,
    trust: isGiven ? ('given' as const) : undefined,
  };
  const { folderTrust: projectTrust } = openProject(config.cwd, options);
  if (!isGiven && !(await confirmTrust(clients, projectTrust))) return undefined;
  const project = openProject(config.cwd, { ...options, projectTrust });
  await confirmServers(clients, await project.pendingServers());
  return projectTrust;
}

const NOT_NOW = { key: 'l', label: 'Not now' };

/**
 * Shows what the project would run or be allowed and asks, unless it declares nothing or is trusted
 * already. False: the person does not want the session at all.
 */
export async function confirmTrust(
  { confirm, notify }: OpeningClients,
  trust: ProjectTrust,
): Promise<boolean> {
  const seen = await trust.check();
  if (seen.pending.length === 0) return true;
  const option = await confirm({
    topic: 'trust',
    title: 'Trust this folder?',
    details: trustRequestText(seen).trim().split('\n'),
    options: [
      { key: 'y', label: 'Yes, until one of these changes' },
      { key: 'w', label: 'No, start without them' },
      { key: 'n', label: 'No, quit' },
    ],
  });
  if (option === 'w') {
    notify('Not trusted: the session starts without them. `portcullis trust` changes that.');
    return true;
  }
  if (option !== 'y') {
    // fail-closed: anything but a clear yes starts nothing.
    notify('Not trusted; nothing was started.');
    return false;
  }
  const { stored, refusal } = await trust.accept(seen, { store: true });
  notify(
    stored
      ? 'Trusted until one of these changes. `portcullis trust --revoke` takes it back.'
      : `Trusted for this session only: ${refusal}.`,
  );
  return true;
}

/** Asks about each server of the project that waits for approval. A no is kept; no answer is not. */
export async function confirmServers(
  { confirm, notify }: OpeningClients,
  servers: readonly PendingServer[],
): Promise<void> {
  for (const server of servers) {
    const name = visible(server.name);
    const option = await confirm({
      topic: 'mcp_server',
      title: `Use the MCP server "${name}"?`,
      details: [
        `.mcp.json of this folder has a server "${name}" (${visible(server.reason)}):`,
        ...server.details.map((line) => `  ${line}`),
      ],
      options: [
        { key: 'y', label: 'Yes, until its entry changes' },
        { key: 'n', label: "No, and don't ask again" },
        NOT_NOW,
      ],
    });
    if (option === 'y') {
      await server.approve();
      notify('Approved until its entry changes.');
    } else if (option === 'n') {
      await server.decline();
      notify(`Declined. \`portcullis mcp approve\` changes that.`);
      // fail-closed: no clear yes, no server.
    } else notify('Not used in this session.');
  }
}

/** Asks about files from outside the project that its instructions bring in. */
export function confirmIncludes({ confirm, notify }: OpeningClients): AskIncludes {
  return async (pending) => {
    const files = pending.map(({ realPath, path, parent }) =>
      parent === undefined
        ? `  ${visible(realPath)}  (${visible(path)} is a link to it)`
        : `  ${visible(realPath)}  (named in ${visible(parent)})`,
    );
    const option = await confirm({
      topic: 'include',
      title: 'Include them?',
      details: [
        "This project's instructions include files from outside the project:",
        ...files,
        '',
        'Their contents will be sent to the model provider.',
      ],
      options: [
        { key: 'y', label: 'Yes, these files' },
        { key: 'n', label: "No, and don't ask again" },
        NOT_NOW,
      ],
    });
    if (option === 'y') {
      notify('Approved for these files. `portcullis context decline <path>` takes it back.');
      return 'approve';
    }
    notify(
      option === 'n'
        ? 'Not included. `portcullis context approve <path>` changes that.'
        : 'Not included this time.',
    );
    // fail-closed: no clear yes, no file.
    return option === 'n' ? 'decline' : 'later';
  };
}

/** Asks whether the model is changed after all, where a hook wants a person to confirm it. */
export function confirmModelSwitch({
  confirm,
}: Pick<OpeningClients, 'confirm'>): (reason: string) => Promise<boolean> {
  return async (reason) => {
    const option = await confirm({
      topic: 'model_switch',
      title: 'Change the model?',
      details: reason.split('\n').map(visible),
      options: [
        { key: 'y', label: 'Yes' },
        { key: 'n', label: 'No, keep the model' },
      ],
    });
    return option === 'y';
  };
}
