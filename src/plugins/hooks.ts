import { join } from '../env/paths.js';
import { checkHooksOf } from '../settings/check.js';
import type { ConfigProblem } from '../settings/types.js';
import { own } from '../util/own.js';
import { visible } from '../util/visible.js';
import {
  type ComponentTable,
  componentTables,
  needsOption,
  type OpenedPlugin,
} from './component-files.js';
import type { PluginHooks } from './plugin.js';

/** Beside the events, for people. */
const WORDS: ReadonlySet<string> = new Set(['description', '$schema']);

/** What `hooks/hooks.json` and the manifest say together. */
export async function hooksOf(plugin: OpenedPlugin): Promise<{
  readonly hooks: readonly PluginHooks[];
  readonly problems: readonly ConfigProblem[];
}> {
  const { tables, problems } = await componentTables('hooks', join('hooks', 'hooks.json'), plugin);
  const found: ConfigProblem[] = [...problems];
  const hooks: PluginHooks[] = [];
  for (const table of tables) {
    const events = eventsIn(table);
    found.push(...strayKeys(table), ...needsOption('a hook', events, table));
    found.push(...checkHooksOf(asSettings(table, events, plugin), plugin.check));
    const line = table.lineOf(['hooks']);
    hooks.push({ hooks: events, file: table.file, ...(line === undefined ? {} : { line }) });
  }
  return { hooks, problems: found };
}

/** `{ "description": …, "hooks": { … } }` in a file; the events themselves in a manifest. */
function eventsIn({ value }: ComponentTable): unknown {
  const inner = own(value, 'hooks');
  if (inner !== undefined) return inner;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !WORDS.has(key)));
}

/** fail-closed: a guard that stands beside the others, and not among them, is never asked. */
function strayKeys({ value, file, lineOf }: ComponentTable): readonly ConfigProblem[] {
  if (own(value, 'hooks') === undefined) return [];
  return Object.keys(value)
    .filter((key) => key !== 'hooks' && !WORDS.has(key))
    .map((key) => {
      const line = lineOf([key]);
      return {
        severity: 'fatal' as const,
        file,
        ...(line === undefined ? {} : { line }),
        message: `\`${visible(key)}\` stands beside \`hooks\`, where nothing is read.`,
        remedy: 'Put it into `hooks`.',
      };
    });
}

/** As the checks of settings want it: whoever named the plugin stands for it. */
function asSettings({ file, lineOf }: ComponentTable, hooks: unknown, plugin: OpenedPlugin) {
  return {
    source: 'cli' as const,
    file,
    root: plugin.directory,
    trusted: true,
    content: { hooks },
    duplicates: [],
    lineOf,
  };
}
