import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import type { IsHidden } from '../permissions/paths/hidden-files.js';
import { homeDirectory } from '../platform/fs/paths.js';
import { hostFacts } from '../platform/host.js';
import { createWorkspace } from '../tools/workspace.js';
import type { ProjectPlaces } from './places.js';
import { type ProjectRules, type ProjectSettings, refuseFatal } from './settings.js';

interface HiddenFilesParts {
  readonly places: ProjectPlaces;
  readonly trustGiven: boolean;
  readonly settings: ProjectSettings;
  readonly rules: ProjectRules;
  /** Directories beside the project, absolute: those that flags add, and all. */
  readonly addDirs: readonly string[];
  readonly added: readonly string[];
  warn(text: string): void;
}

/**
 * Tells whether rules keep a file from being read, as a session here would: the rules of the settings
 * and those that instruction files enforce. They are read when the first link asks.
 */
export function hiddenFiles(parts: HiddenFilesParts): IsHidden {
  let opening: Promise<IsHidden> | undefined;
  return async (path) => {
    opening ??= open(parts).catch((thrown: unknown) => {
      if (!(thrown instanceof PortcullisError)) throw thrown;
      // fail-closed: a restriction that cannot be read may forbid what a link leads to.
      parts.warn(
        `no link is followed here, because a restriction cannot be read: ${visible(thrown.message)}`,
      );
      return async () => true;
    });
    return await (await opening)(path);
  };
}

/** Throws where a session would not start. */
async function open(parts: HiddenFilesParts): Promise<IsHidden> {
  const { places, settings, rules, added, addDirs, trustGiven: trust } = parts;
  const { cwd, env } = places;
  refuseFatal([...settings.problems, ...rules.problems]);
  const { openInstructionBook } = await import('../context/instructions/session-book.js');
  const { enforcedCompiler } = await import('../context/enforced/compiled.js');
  const { book, hiding, problems } = openInstructionBook(
    { cwd, env, trust, addDirs },
    {
      ...places,
      env: settings.env,
      host: hostFacts(),
      settings: settings.settings,
      workspace: createWorkspace([cwd, ...added]),
      trust: { now: settings.trusted },
    },
  );
  const enforced = await book.enforced();
  const compiled = enforcedCompiler(cwd, homeDirectory(settings.env))(enforced);
  refuseFatal([...problems, ...enforced.problems, ...compiled.problems]);
  hiding.enforce(() => compiled.rules);
  return hiding.isHidden;
}
