import { isRecord, own } from '../lib/own.js';
import { visible } from '../lib/text/visible.js';
import type { ConfigProblem } from '../settings/types.js';
import { componentTables, needsOption, type OpenedPlugin } from './component-files.js';
import { fatal } from './files.js';
import type { PluginPaths, PluginServers } from './plugin.js';

/** Reads the servers of `.mcp.json` and of the manifest, under their full names. */
export async function serversOf(plugin: OpenedPlugin): Promise<{
  readonly servers: readonly PluginServers[];
  readonly problems: readonly ConfigProblem[];
}> {
  const { tables, problems } = await componentTables('mcpServers', '.mcp.json', plugin);
  const found: ConfigProblem[] = [...problems];
  const servers: PluginServers[] = [];
  const taken = new Set<string>();
  for (const table of tables) {
    const { value, file } = table;
    const listed = own(value, 'mcpServers') ?? value;
    if (!isRecord(listed)) {
      const remedy = 'Write { "mcpServers": { "name": { … } } }.';
      found.push(fatal({ file }, '`mcpServers` is no table of servers.', remedy));
      continue;
    }
    const entries: [string, unknown][] = [];
    for (const [name, entry] of Object.entries(listed)) {
      found.push(...needsOption(`the server "${visible(name)}"`, entry, table));
      if (taken.has(name)) {
        const message = `the plugin has two servers called "${visible(name)}".`;
        found.push(fatal({ file }, message, 'Rename one of them.'));
      }
      taken.add(name);
      entries.push([`plugin:${plugin.manifest.name}:${name}`, withPaths(entry, plugin)]);
    }
    servers.push({ servers: Object.fromEntries(entries), file });
  }
  return { servers, problems: found };
}

const DIRECTORIES = /\$\{(CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|CLAUDE_PROJECT_DIR)\}/g;

/** A server's entry with its directories filled in, which its program also gets as environment variables. */
function withPaths(
  entry: unknown,
  place: { readonly paths: PluginPaths; readonly projectDir: string },
): unknown {
  const { root, data } = place.paths;
  const variables = { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data };
  const values = new Map([...Object.entries(variables), ['CLAUDE_PROJECT_DIR', place.projectDir]]);
  const filled = filledIn(entry, (text) =>
    text.replace(DIRECTORIES, (whole, name: string) => values.get(name) ?? whole),
  );
  if (!isRecord(filled) || typeof filled.command !== 'string') return filled;
  const own = isRecord(filled.env) ? filled.env : undefined;
  // An invalid `env` is kept, so that the check of the entry reports it.
  if (filled.env !== undefined && own === undefined) return filled;
  return { ...filled, env: { ...own, ...variables } };
}

function filledIn(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((one) => filledIn(one, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one, fill)]));
}
