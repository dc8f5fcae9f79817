import { PortcullisError } from '../errors.js';
import { redact } from '../lib/redact.js';
import { stateDirectory } from '../platform/fs/paths.js';
import { listChildren } from '../platform/process/process-registry.js';
import { listProjectHooks } from '../project/hooks-list.js';
import { openProject } from '../project/project.js';
import { trustData } from '../project/trust.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a session in a folder would run: declarations that need trust, hooks, MCP servers. */
export async function folderView(env: Environment, cwd: string) {
  const project = openProject(cwd, { env, trustNotice: 'silent' });
  try {
    if ((await project.places.fs.stat(project.cwd))?.kind !== 'directory') {
      throw new PortcullisError('usage', `${cwd} is not a folder`);
    }
    const [seen, hooks, servers] = [
      await project.folderTrust.check(),
      await listProjectHooks(project),
      await project.mcp(),
    ];
    const { hooks: rows, skipped, problems } = hooks;
    return {
      cwd: project.cwd,
      trust: trustData(seen),
      hooks: { rows, skipped, problems },
      servers: servers.configuration.servers.map((server) => ({
        name: server.name,
        scope: server.scope,
        state: server.standing.kind,
        details: servers.describe(server),
      })),
      pending: servers.pending.map(({ name, reason, details }) => ({ name, reason, details })),
    };
  } finally {
    await project.close();
  }
}

/** Trusts a folder with exactly the declarations that were shown. */
export async function trustFolder(env: Environment, cwd: string, shown: string) {
  const project = openProject(cwd, { env, trustNotice: 'silent' });
  try {
    const seen = await project.folderTrust.check();
    // fail-closed: what was read is accepted, and nothing that came later.
    if (trustData(seen).digest !== shown) {
      throw new PortcullisError('usage', 'the folder has changed since it was shown', {
        remedy: 'read the list again, then accept it',
      });
    }
    const { stored, refusal } = await project.folderTrust.accept(seen, { store: true });
    if (!stored) throw new PortcullisError('config', `trust cannot be kept: ${refusal}`);
    return { verdict: 'trusted' };
  } finally {
    await project.close();
  }
}

export async function revokeTrust(env: Environment, cwd: string) {
  const project = openProject(cwd, { env, trustNotice: 'silent' });
  try {
    const { root } = await project.folderTrust.check();
    return { revoked: await project.trustStore.remove(root) };
  } finally {
    await project.close();
  }
}

/** The child processes of all running sessions. */
export function processRows(env: Environment) {
  return listChildren(stateDirectory(env)).map((child) => ({
    pid: child.pid,
    kind: child.kind,
    label: child.label,
    command: redact(child.command ?? ''),
    since: child.since,
    ownerPid: child.ownerPid,
    sessionId: child.sessionId ?? '',
    orphan: !child.ownerAlive,
  }));
}
