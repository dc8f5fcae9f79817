import { nodeFileSystem } from '../../env/node-fs.js';
import { displayPath } from '../../env/paths.js';
import { isRunByAgent } from '../../env/run-by-agent.js';
import { PortcullisError } from '../../errors.js';
import { nameProblem } from '../../mcp/config-names.js';
import { contentHash, filledText } from '../../mcp/declaration.js';
import { parseEntry } from '../../mcp/entry.js';
import { addServer, WRITABLE_SCOPES, type WritableScope } from '../../mcp/stores-write.js';
import type { OwnWrite, ProjectTrust } from '../../settings/trust.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { mcpHere, refuseExclusive } from './mcp-here.js';

export function scopeFrom(text: string | undefined): WritableScope {
  const scope = WRITABLE_SCOPES.find((one) => one === (text ?? 'local'));
  if (scope !== undefined) return scope;
  throw new PortcullisError('usage', `"${visible(text ?? '')}" is no scope`, {
    remedy: `use one of ${WRITABLE_SCOPES.join(', ')}`,
  });
}

export interface NewServer {
  readonly scope: WritableScope;
  readonly name: string;
  readonly raw: unknown;
  /** The person has confirmed it on the command line. */
  readonly confirmed?: boolean;
}

/** fail-closed: trust is a person's, so neither the shell of an agent nor a script passes it on. */
function mayKeepTrust({ confirmed }: NewServer): boolean {
  return !isRunByAgent(process.env) && (confirmed === true || process.stdin.isTTY === true);
}

/**
 * The folder was trusted before our own write, so the one entry that was written is accepted with it.
 * Whatever else changed meanwhile still waits for a person.
 */
async function keepsTrust(trust: ProjectTrust, written: OwnWrite): Promise<boolean> {
  return (await trust.rebind(written)) === 'bound';
}

/** Checks an entry as a session would, and writes it. What this person writes is approved with it. */
export async function storeServer(server: NewServer, output: Output): Promise<number> {
  const { scope, name, raw } = server;
  const isAgent = isRunByAgent(process.env);
  if (isAgent && scope !== 'project') {
    // fail-closed: such a server starts in every later session, without a question.
    throw new PortcullisError('denied', `an agent may not add a server with the scope ${scope}`, {
      remedy: 'use --scope project, which a person has to approve, or run it in a terminal',
    });
  }
  const here = await mcpHere();
  refuseExclusive(here);
  const parsed = parseEntry(raw, { scope, variables: process.env, ofHost: false });
  const reason = nameProblem(name) ?? (parsed.ok ? undefined : parsed.reason);
  // A variable may get its value later; everything else would never work.
  const waits = !parsed.ok && /^\$\{.* no value/.test(parsed.reason);
  if (reason !== undefined && !(waits && nameProblem(name) === undefined)) {
    throw new PortcullisError('usage', `"${visible(name)}" cannot be added: ${visible(reason)}`, {
      remedy: 'portcullis mcp add --help shows the forms',
    });
  }
  const { fs, stores } = { fs: nodeFileSystem, stores: here.stores };
  const before = scope === 'project' ? await here.trust.check() : undefined;
  const added = await addServer({ fs, stores }, server);
  if (!added.ok)
    throw new PortcullisError('config', visible(added.error), { remedy: 'nothing was written' });
  if (scope === 'project' && !isAgent)
    await here.approvals.approve(here.configuration.project, {
      name,
      contentHash: contentHash(raw),
      filled: parsed.ok ? filledText(raw, parsed.entry) : undefined,
    });
  const file = visible(displayPath(added.value, here.cwd));
  output.out(`Added ${visible(name)} to ${file} (${scope}).\n`);
  if (before?.verdict === 'trusted') {
    const isKept =
      mayKeepTrust(server) && (await keepsTrust(here.trust, { file: added.value, server: name }));
    if (!isKept) {
      output.warn(`${file} has changed since the folder was trusted; run \`portcullis trust\``);
    }
  }
  for (const { message } of parsed.warnings) output.warn(visible(message));
  if (waits) output.warn(visible(reason ?? ''));
  return EXIT.done;
}
