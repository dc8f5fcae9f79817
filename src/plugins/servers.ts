import { isRecord, own } from '../lib/own.js';
import { visible } from '../lib/visible.js';
import type { ConfigProblem } from '../settings/types.js';
import { componentTables, needsOption, type OpenedPlugin } from './component-files.js';
import { withPaths } from './placeholders.js';
import type { PluginServers } from './plugin.js';

/** What `.mcp.json` and the manifest say together, under their full names. */
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
      found.push({
        severity: 'fatal',
        file,
        message: '`mcpServers` is no table of servers.',
        remedy: 'Write { "mcpServers": { "name": { … } } }.',
      });
      continue;
    }
    const entries: [string, unknown][] = [];
    for (const [name, entry] of Object.entries(listed)) {
      found.push(...needsOption(`the server "${visible(name)}"`, entry, table));
      if (taken.has(name)) {
        const message = `the plugin has two servers called "${visible(name)}".`;
        found.push({ severity: 'fatal', file, message, remedy: 'Rename one of them.' });
      }
      taken.add(name);
      entries.push([`plugin:${plugin.manifest.name}:${name}`, withPaths(entry, plugin)]);
    }
    servers.push({ servers: Object.fromEntries(entries), file });
  }
  return { servers, problems: found };
}
