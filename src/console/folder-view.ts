import { PortcullisError } from '../errors.js';
import { redact } from '../lib/text/redact.js';
import { stateDirectory } from '../platform/fs/paths.js';
import { listChildren } from '../platform/process/process-registry.js';
import { listProjectHooks } from '../project/hooks/hooks-list.js';
import { trustData } from '../project/trust.js';
import { type Environment, withProject } from './project.js';

/** What a session in a folder would run: declarations that need trust, hooks, MCP servers. */
export async function folderView(env: Environment, cwd: string) {
  return await withProject(env, cwd, async (project) => {
    if ((await project.places.fs.stat(project.cwd))?.kind !== 'directory') {
      throw new PortcullisError('usage', `${cwd} is not a folder`);
    }
    const seen = await project.folderTrust.check();
    const { hooks, skipped, problems } = await listProjectHooks(project);
    const servers = await project.mcp();
    return {
      cwd: project.cwd,
      trust: trustData(seen),
      hooks: { rows: hooks, skipped, problems },
      servers: servers.configuration.servers.map((server) => ({
        name: server.name,
        scope: server.scope,
        state: server.standing.kind,
        details: servers.describe(server),
      })),
    };
  });
}

/** Trusts a folder with exactly the declarations that were shown. */
export async function trustFolder(env: Environment, cwd: string, shown: string) {
  return await withProject(env, cwd, async ({ folderTrust }) => {
    const seen = await folderTrust.check();
    // fail-closed: only the declarations that the person has read are accepted.
    if (trustData(seen).digest !== shown) {
      throw new PortcullisError('usage', 'the folder has changed since it was shown', {
        remedy: 'read the list again, then accept it',
      });
    }
    const { stored, refusal } = await folderTrust.accept(seen, { store: true });
    if (!stored) throw new PortcullisError('config', `trust cannot be saved: ${refusal}`);
    return { verdict: 'trusted' };
  });
}

export async function revokeTrust(env: Environment, cwd: string) {
  return await withProject(env, cwd, async ({ folderTrust, trustStore }) => {
    const { root } = await folderTrust.check();
    return { revoked: await trustStore.remove(root) };
  });
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
