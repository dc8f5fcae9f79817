import type { SessionConfig } from '../../agents/session-config.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, homeDirectory, stateDirectory } from '../../env/paths.js';
import { LevelsOfStart } from '../../env/project-levels.js';
import { PortcullisError } from '../../errors.js';
import type { IsHidden } from '../../permissions/hidden-files.js';
import { createLiveRules } from '../../permissions/live-rules.js';
import type { LoadedSettings } from '../../settings/load.js';
import { refuseBroken } from '../../settings/refuse.js';
import { createWorkspace } from '../../tools/workspace.js';
import { visible } from '../../util/visible.js';

export interface HiddenHereOptions extends Pick<SessionConfig, 'cwd' | 'env' | 'trust'> {
  /** Whether the folder's files may grant and execute. */
  readonly trusted: boolean;
  /** Directories that flags add, absolute. */
  readonly addDirs: readonly string[];
  /** The same with those of settings. */
  readonly added: readonly string[];
  warn(text: string): void;
}

/**
 * Whether rules keep a file from being read, as a session here would judge: those of the settings and
 * those that instruction files enforce. They are read when the first link asks.
 */
export function hiddenHere(options: HiddenHereOptions, loaded: LoadedSettings): IsHidden {
  let opening: Promise<IsHidden> | undefined;
  return async (path) => {
    opening ??= open(options, loaded).catch((thrown: unknown) => {
      if (!(thrown instanceof PortcullisError)) throw thrown;
      // fail-closed: a restriction that cannot be read may be one on what a link leads to.
      options.warn(
        `no link is followed here, because a restriction cannot be read: ${visible(thrown.message)}`,
      );
      return async () => true;
    });
    return await (await opening)(path);
  };
}

/** Throws where a session would not start. */
async function open(options: HiddenHereOptions, loaded: LoadedSettings): Promise<IsHidden> {
  const { cwd, trusted, added } = options;
  const { settings } = loaded;
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const env: SessionConfig['env'] = { ...options.env, ...Object.fromEntries(fromSettings) };
  const home = homeDirectory(env);
  const rules = createLiveRules({ cwd, home, allowedTools: [], disallowedTools: [] });
  const wrong = rules.replace(settings.permissions, settings.strictness);
  refuseBroken([...loaded.problems, ...wrong], silent, settings.strictness);
  const { openInstructionBook } = await import('../../harness/instruction-opening.js');
  const { enforcedCompiler } = await import('../../harness/instruction-rules.js');
  const { book, hiding, problems } = openInstructionBook(options, {
    fs: nodeFileSystem,
    env,
    configDir: configDirectory(options.env),
    stateDirectory: stateDirectory(options.env),
    host: hostFacts(),
    levels: new LevelsOfStart(nodeFileSystem, cwd),
    sources: ['user', 'project', 'local'],
    settings,
    workspace: createWorkspace([cwd, ...added]),
    trust: { now: trusted },
  });
  const enforced = await book.enforced();
  const compiled = enforcedCompiler(cwd, home)(enforced);
  refuseBroken([...problems, ...enforced.problems, ...compiled.problems], silent);
  hiding.enforce(() => compiled.rules);
  return hiding.isHidden;
}

/** What is only lost or different is told where a session starts. */
const silent = (): void => undefined;
