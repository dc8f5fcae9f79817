import { isRecord, own } from '../lib/own.js';
import { editDistance, nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import { join } from '../platform/fs/paths.js';
import { HOOK_EVENTS } from '../protocol/hooks/hook-events.js';
import { isDescriptive } from '../settings/schema/handler.js';
import { checkHooks } from '../settings/schema/hooks.js';
import { isComment } from '../settings/schema/type-check.js';
import type { ConfigProblem } from '../settings/types.js';
import { componentTables, needsOption, type OpenedPlugin } from './component-files.js';
import { fatal, type JsonTable, type PluginFiles, readUsualTable } from './files.js';
import type { PluginHooks } from './plugin.js';

/** Reads the hooks of `hooks/hooks.json` and of the manifest. */
export async function hooksOf(plugin: OpenedPlugin): Promise<{
  readonly hooks: readonly PluginHooks[];
  readonly problems: readonly ConfigProblem[];
}> {
  const { tables, problems } = await componentTables('hooks', join('hooks', 'hooks.json'), plugin);
  const isAbsent = tables.length === 0 && problems.length === 0;
  const found: ConfigProblem[] = [...problems, ...(isAbsent ? await unreadHooks(plugin) : [])];
  const hooks: PluginHooks[] = [];
  for (const table of tables) {
    const events = eventsIn(table);
    found.push(...unknownKeys(table), ...needsOption('a hook', events, table));
    found.push(...checkHooks(asSettings(table, events, plugin), plugin.check));
    hooks.push({ hooks: events, file: table.file, line: table.lineOf(['hooks']) });
  }
  return { hooks, problems: found };
}

/** fail-closed: hooks in a file with nearly the usual name would never run. */
async function unreadHooks({ directory, fs }: OpenedPlugin): Promise<readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const name of await nearNames(directory, fs)) {
    const read = await readUsualTable(name, { directory, fs });
    if (!read.ok) problems.push(read.error);
    else if (read.value !== undefined && mayHoldHooks(read.value.value)) {
      const message = 'it holds hooks, and hooks are not read from a file of this name.';
      problems.push(fatal(read.value, message, 'Rename it to hooks/hooks.json.'));
    }
  }
  return problems;
}

async function nearNames(directory: string, fs: PluginFiles): Promise<readonly string[]> {
  const isNear = (name: string, usual: string): boolean =>
    editDistance(name.toLowerCase(), usual) <= 1;
  const entries = await fs.list(directory);
  const found: string[] = [];
  for (const { name, kind } of entries) {
    if (isNear(name, 'hooks.json') || isNear(name, 'plugin.json')) found.push(name);
    if (kind !== 'directory' || !isNear(name, 'hooks')) continue;
    const inside = await fs.list(join(directory, name));
    found.push(
      ...inside.flatMap((one) => (isNear(one.name, 'hooks.json') ? join(name, one.name) : [])),
    );
  }
  return found;
}

/** Files wrap events in `{ "description": …, "hooks": { … } }`; a manifest has the events themselves. */
function eventsIn({ value }: JsonTable): unknown {
  const inner = own(value, 'hooks');
  if (inner !== undefined) return inner;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isDescriptive(key)));
}

/** Keys beside `hooks`: one that may be a guard stops the start, a descriptive one is ignored. */
function unknownKeys({ value, file, lineOf }: JsonTable): readonly ConfigProblem[] {
  if (own(value, 'hooks') === undefined) return [];
  return Object.entries(value).flatMap(([key, inner]): readonly ConfigProblem[] => {
    if (key === 'hooks' || isComment(key)) return [];
    const place = { file, line: lineOf([key]) };
    const name = visible(key);
    // fail-closed: a guard beside `hooks` instead of inside would never run.
    if (isEventName(key) || mayHoldHooks(inner)) {
      const message = `\`${name}\` stands beside \`hooks\`, where no hook is read.`;
      return [fatal(place, message, `Move it into "hooks": { "${name}": … }.`)];
    }
    if (key === 'enabled' && inner === false) {
      const message = '`enabled` beside `hooks` switches nothing off.';
      const remedy = 'Write "enabled": false on the groups or hooks that are to be off.';
      return [{ severity: 'warning', ...place, message, remedy }];
    }
    if (isDescriptive(key)) return [];
    const message = `\`${name}\` is not known here and has no effect.`;
    return [{ severity: 'note', ...place, message, remedy: 'Remove it, or leave it for people.' }];
  });
}

function isEventName(key: string): boolean {
  return (
    own(HOOK_EVENTS, key) !== undefined || nearest(key, Object.keys(HOOK_EVENTS)) !== undefined
  );
}

/** Whether a value seems to contain a hook group or handler. */
function mayHoldHooks(value: unknown, depth = 0): boolean {
  if (depth > 20) return true;
  if (Array.isArray(value)) return value.some((item) => mayHoldHooks(item, depth + 1));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) =>
      ['hooks', 'matcher', 'command'].includes(key) ||
      own(HOOK_EVENTS, key) !== undefined ||
      mayHoldHooks(inner, depth + 1),
  );
}

/** As input for the settings checks; naming the plugin for the session makes it trusted. */
function asSettings({ file, lineOf }: JsonTable, hooks: unknown, plugin: OpenedPlugin) {
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
