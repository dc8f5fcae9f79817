import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { join } from '../../platform/fs/paths.js';
import { lookAtLevels } from '../../platform/fs/project-levels.js';
import { DEFAULT_STYLE, findStyle, loadOutputStyles, type OutputStyles } from './output-styles.js';

/** The session with the style that its settings name. An unknown style is reported, and the default is used. */
export async function withOutputStyle(
  config: SessionConfig,
  environment: SessionEnvironment,
): Promise<SessionConfig> {
  const name = styleName(environment);
  if (name === DEFAULT_STYLE) return config;
  const loaded = await outputStylesOf(environment, await environment.trust.accepted());
  const { style, problem } = findStyle(name, loaded);
  const problems = problem === undefined ? [] : [problem, ...loaded.problems];
  for (const text of problems) config.emit({ type: 'notice', level: 'warning', text });
  return { ...config, outputStyle: style };
}

/** As the settings say it, also where there is no such style: clients compare it with what they wrote. */
export function styleName({ settings }: Pick<SessionEnvironment, 'settings'>): string {
  const value = settings.values.get('outputStyle')?.value;
  return typeof value === 'string' && value.trim() !== '' ? value : DEFAULT_STYLE;
}

/**
 * The closest directory first, the user's own last.
 * fail-closed: a style of a project that is not trusted does not replace one that its user has chosen.
 */
function outputStylesOf(
  environment: SessionEnvironment,
  isTrusted: boolean,
): Promise<OutputStyles> {
  const { fs, cwd, sources, configDir } = environment;
  const yields = !isTrusted;
  const inside = (path: string): string => join(path, 'output-styles');
  const project = sources.includes('project')
    ? lookAtLevels(cwd)
        .filter(({ hasDirectory }) => hasDirectory)
        .map(({ path }) => ({ path: inside(join(path, '.claude')), root: path, yields }))
    : [];
  // The user's own folder may be a link, as those who keep their settings in a repository have it.
  const own = inside(configDir);
  const user = sources.includes('user') ? [{ path: own, root: own, yields: false }] : [];
  const folders = yields ? [...user, ...project] : [...project, ...user];
  return loadOutputStyles({ fs, folders });
}

export async function styleNames(environment: SessionEnvironment): Promise<readonly string[]> {
  // Names are the same, whichever style has them.
  const { styles } = await outputStylesOf(environment, true);
  return [DEFAULT_STYLE, ...styles.map(({ name }) => name)];
}
