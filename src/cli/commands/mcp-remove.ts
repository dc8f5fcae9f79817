import { nodeFileSystem } from '../../env/node-fs.js';
import { displayPath } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { removeServer, WRITABLE_SCOPES } from '../../mcp/stores-write.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { mcpHere, refuseExclusive, serverNamed } from './mcp-here.js';
import { scopeFrom } from './mcp-store.js';

export const USAGE = 'portcullis mcp remove <name> [-s|--scope local|project|user]';

/** Takes a server out of the file it stands in. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, values } = readArguments(
    argv.map((word) => (word === '-s' ? '--scope' : word)),
    { usage: USAGE, values: ['scope'] },
  );
  const [name] = words;
  if (name === undefined || words.length > 1)
    throw new PortcullisError('usage', 'mcp remove wants one name', { remedy: `usage: ${USAGE}` });
  const here = await mcpHere();
  refuseExclusive(here);
  const { configuration, stores, approvals, cwd } = here;
  const asked = values.get('scope');
  const all = [...configuration.servers, ...configuration.hidden];
  const scopes = WRITABLE_SCOPES.filter((scope) =>
    all.some((one) => one.name === name && one.scope === scope),
  );
  if (asked === undefined && scopes.length > 1) {
    throw new PortcullisError('usage', `"${visible(name)}" stands in ${scopes.join(' and ')}`, {
      remedy: `say which: portcullis mcp remove ${visible(shellWord(name))} --scope ${scopes[0] ?? ''}`,
    });
  }
  const scope = asked === undefined ? scopes[0] : scopeFrom(asked);
  if (scope === undefined) {
    const { scope: where } = serverNamed(here, name);
    throw new PortcullisError('usage', `"${visible(name)}" is of scope ${where}`, {
      remedy: 'it is removed where it was written',
    });
  }
  const removed = await removeServer({ fs: nodeFileSystem, stores }, { scope, name });
  if (!removed.ok)
    throw new PortcullisError('config', visible(removed.error), { remedy: 'nothing was written' });
  if (removed.value === undefined)
    throw new PortcullisError('usage', `there is no "${visible(name)}" of scope ${scope}`, {
      remedy: 'portcullis mcp list shows where each stands',
    });
  if (scope === 'project') await approvals.forget(configuration.project, name);
  const file = visible(displayPath(removed.value, cwd));
  output.out(`Removed ${visible(name)} from ${file} (${scope}).\n`);
  return EXIT.done;
}
