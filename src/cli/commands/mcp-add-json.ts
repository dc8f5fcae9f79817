import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../util/json.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { scopeFrom, storeServer } from './mcp-store.js';

export const USAGE = 'portcullis mcp add-json <name> <json> [-s|--scope local|project|user]';

/** Writes an entry that is given as JSON. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, values } = readArguments(
    argv.map((word) => (word === '-s' ? '--scope' : word)),
    { usage: USAGE, values: ['scope'] },
  );
  const [name, text] = words;
  if (name === undefined || text === undefined || words.length > 2)
    throw new PortcullisError('usage', 'mcp add-json wants a name and JSON', {
      remedy: `usage: ${USAGE}`,
    });
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw new PortcullisError('usage', `this is not valid JSON: ${parsed.error}`, {
      remedy: `usage: ${USAGE}`,
    });
  return await storeServer(
    { scope: scopeFrom(values.get('scope')), name, raw: parsed.value },
    output,
  );
}
