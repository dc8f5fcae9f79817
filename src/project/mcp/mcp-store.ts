import { PortcullisError } from '../../errors.js';
import { shellWord } from '../../lib/text/shell-word.js';
import { visible } from '../../lib/text/visible.js';
import { contentHash, filledText } from '../../mcp/config/declaration.js';
import { parseEntry } from '../../mcp/config/entry.js';
import { nameProblem } from '../../mcp/config/names.js';
import {
  removeServer as deleteServer,
  WRITABLE_SCOPES,
  type WritableScope,
  addServer as writeServer,
} from '../../mcp/config/stores.js';
import type { Project } from '../project.js';
import { refuseExclusive, serverNamed } from './mcp.js';

export { WRITABLE_SCOPES, type WritableScope } from '../../mcp/config/stores.js';

export interface NewServer {
  readonly scope: WritableScope;
  readonly name: string;
  readonly raw: unknown;
  /** An agent runs the command. */
  readonly byAgent: boolean;
  /** A person runs it or confirmed it, so that the folder stays trusted with the new entry. */
  readonly keepsTrust: boolean;
}

export interface WrittenServer {
  readonly file: string;
  readonly warnings: readonly string[];
  /** The folder was trusted before, and is not any more. */
  readonly lostTrust: boolean;
}

/** Checks an entry as a session would, and writes it. A person approves what the person writes. */
export async function addServer(project: Project, server: NewServer): Promise<WrittenServer> {
  const { scope, name, raw, byAgent } = server;
  const { places, folderTrust } = project;
  if (byAgent && scope !== 'project') {
    // fail-closed: such a server starts in every later session, without a question.
    throw new PortcullisError('denied', `an agent may not add a server with the scope ${scope}`, {
      remedy: 'use --scope project, which a person has to approve, or run it in a terminal',
    });
  }
  const servers = await project.mcp();
  refuseExclusive(servers);
  const parsed = parseEntry(raw, { scope, variables: places.env, ofHost: false });
  // A variable may get its value later; everything else would never work.
  const lacksVariables = !parsed.ok && parsed.lacksVariables === true;
  const reason = nameProblem(name) ?? (parsed.ok || lacksVariables ? undefined : parsed.reason);
  if (reason !== undefined) {
    throw new PortcullisError('usage', `"${visible(name)}" cannot be added: ${visible(reason)}`, {
      remedy: 'portcullis mcp add --help shows the forms',
    });
  }
  const wasTrusted = scope === 'project' && (await folderTrust.check()).verdict === 'trusted';
  const written = await writeServer({ fs: places.fs, stores: servers.stores }, server);
  if (!written.ok) throw notWritten(written.error);
  if (scope === 'project' && !byAgent) {
    await servers.approvals.approve(servers.configuration.project, {
      name,
      contentHash: contentHash(raw),
      filled: parsed.ok ? filledText(raw, parsed.entry) : undefined,
    });
  }
  // Only the entry that we wrote is accepted; any other change still waits for a person.
  const isKept =
    wasTrusted &&
    server.keepsTrust &&
    !byAgent &&
    (await folderTrust.rebind({ file: written.value, server: name })) === 'bound';
  const warnings = parsed.warnings.map(({ message }) => message);
  return {
    file: written.value,
    warnings: lacksVariables ? [...warnings, parsed.reason] : warnings,
    lostTrust: wasTrusted && !isKept,
  };
}

/** Removes a server from the file of its scope. Without a scope there must be only one that has it. */
export async function removeServer(
  project: Project,
  name: string,
  wanted: WritableScope | undefined,
): Promise<{ readonly scope: WritableScope; readonly file: string }> {
  const servers = await project.mcp();
  refuseExclusive(servers);
  const { configuration, stores, approvals } = servers;
  const all = [...configuration.servers, ...configuration.hidden];
  const scopes = WRITABLE_SCOPES.filter((scope) =>
    all.some((one) => one.name === name && one.scope === scope),
  );
  if (wanted === undefined && scopes.length > 1) {
    throw new PortcullisError('usage', `"${visible(name)}" is in ${scopes.join(' and ')}`, {
      remedy: `say which: portcullis mcp remove ${visible(shellWord(name))} --scope ${scopes[0] ?? ''}`,
    });
  }
  const scope = wanted ?? scopes[0];
  if (scope === undefined) {
    const { scope: where } = serverNamed(servers, name);
    throw new PortcullisError('usage', `"${visible(name)}" has the scope ${where}`, {
      remedy: 'remove it where it was written',
    });
  }
  const removed = await deleteServer({ fs: project.places.fs, stores }, { scope, name });
  if (!removed.ok) throw notWritten(removed.error);
  if (removed.value === undefined) {
    throw new PortcullisError('usage', `there is no "${visible(name)}" with the scope ${scope}`, {
      remedy: 'portcullis mcp list shows the scope of each',
    });
  }
  if (scope === 'project') await approvals.forget(configuration.project, name);
  return { scope, file: removed.value };
}

function notWritten(reason: string): PortcullisError {
  return new PortcullisError('config', visible(reason), { remedy: 'nothing was written' });
}
