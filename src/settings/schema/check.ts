import { SETTINGS } from '../../../build/generated/settings-table.js';
import { own } from '../../lib/own.js';
import type { SettingTable } from '../../protocol/setting-node.js';
import { type ConfigProblem, placeOf, type SettingsFile, type Way } from '../types.js';
import type { CheckOptions } from './check-options.js';
import { checkHookTimeouts } from './hook-timeouts.js';
import { checkHooks } from './hooks.js';
import { onlyRestrictions } from './host-settings.js';
import { checkTopLevel } from './keys.js';
import { withCurrentWords } from './old-words.js';
import { checkValue, inWords } from './type-check.js';

/** The faults of hooks that stand in another file than settings, judged as theirs are. */
export function checkHooksOf(file: SettingsFile, options: CheckOptions): readonly ConfigProblem[] {
  const node = own(SETTINGS, 'hooks');
  // fail-closed: without its table nothing could be checked.
  if (node === undefined) throw new Error('there is no table of hooks');
  return checkHooks(file, file.content.hooks, { ...options, node });
}

const HOOK_SETTINGS: ReadonlySet<string> = new Set([
  'disableAllHooks',
  'allowManagedHooksOnly',
  'allowedHttpHookUrls',
  'httpHookAllowedEnvVars',
]);

/** Everything about files that can be judged by looking at each alone. */
export function checkFiles(
  files: readonly SettingsFile[],
  options: CheckOptions = {},
): {
  readonly files: readonly SettingsFile[];
  readonly table: SettingTable;
  readonly problems: readonly ConfigProblem[];
} {
  const problems = files.flatMap((file) => [
    ...checkTopLevel(file, SETTINGS),
    ...checkDuplicates(file),
    ...checkHookTimeouts(file).map(aboutHooks),
    ...Object.entries(file.content).flatMap(([name, value]) => {
      const node = own(SETTINGS, name);
      if (node === undefined) return [];
      if (name === 'hooks') return checkHooks(file, value, { ...options, node }).map(aboutHooks);
      const found = checkValue(node, value, { file, way: [name], restricts: false });
      return HOOK_SETTINGS.has(name) ? found.map(aboutHooks) : found;
    }),
  ]);
  const kept = files
    .map(withCurrentWords)
    .map((file) => (file.source === 'sdk' ? onlyRestrictions(file, SETTINGS) : file));
  return { files: kept, table: SETTINGS, problems };
}

function aboutHooks(problem: ConfigProblem): ConfigProblem {
  return { topic: 'hooks', ...problem };
}

/** Of a key that stands twice only the last counts, so the first may hold restrictions that do not. */
function checkDuplicates(file: SettingsFile): readonly ConfigProblem[] {
  const ways = new Set(file.duplicates.map(({ way }) => way.join('\n')));
  return file.duplicates
    .filter(({ way }) => !ways.has(way.slice(0, -1).join('\n')))
    .map(({ way, line }) => ({
      // fail-closed: the part that is lost may have been the one that denies.
      severity: restrictsAt(way) ? 'fatal' : 'warning',
      ...placeOf(file, way),
      line,
      message: `\`${inWords(way)}\` stands twice, and only the last one counts.`,
      remedy: 'Join the two.',
    }));
}

function restrictsAt(way: Way): boolean {
  let restricts = false;
  let keys: SettingTable = SETTINGS;
  for (const step of way) {
    const node = own(keys, String(step));
    restricts = node?.facts?.restricts ?? restricts;
    keys = node?.type === 'object' ? node.keys : {};
  }
  return restricts;
}
