import type { Skill } from '../skill.js';

/** Words for directories that only the skills of plugins know, with what they stand for. */
export function pluginDirectories({ plugin }: Pick<Skill, 'plugin'>): readonly [string, string][] {
  if (plugin === undefined) return [];
  return [
    ['CLAUDE_PLUGIN_ROOT', plugin.root],
    ['CLAUDE_PLUGIN_DATA', plugin.data],
  ];
}
