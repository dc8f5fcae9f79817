import { messageOf } from '../../errors.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import type { UsedDocument } from '../../settings/trust/types.js';
import type { SkillPlaces, SkillRoot } from './roots.js';

/** Decides whether a file reached through links may be read as a skill or agent. */
export interface Homes {
  /** The reason against it; undefined when it may be read. */
  whyOutside(
    root: Pick<SkillRoot, 'origin' | 'directory' | 'level' | 'home'>,
    at: { readonly file: string; readonly real: string },
  ): Promise<string | undefined>;
}

export interface HomesDeps extends SkillPlaces, TrustChecker {
  /** The folder of the user's own files below the configuration directory; `skills` by default. */
  readonly userFolder?: string;
}

/**
 * Skill files are shown to the model without a question, so a link in an untrusted repository must not lead
 * to a key or note elsewhere. Links may lead into the project, the added directories and the user's own
 * skills, and from a trusted project also to Markdown files outside.
 */
export async function openHomes(deps: HomesDeps): Promise<Homes> {
  const { fs, cwd, configDir, userFolder = 'skills' } = deps;
  const top = projectLevels(cwd).at(-1) ?? cwd;
  const homes: string[] = [];
  for (const home of [top, ...deps.additionalDirectories(), join(configDir, userFolder)]) {
    // fail-closed: a directory that cannot be resolved is left out.
    await fs.realPath(home).then(
      (real) => homes.push(real),
      () => undefined,
    );
  }
  return {
    async whyOutside(root, { file, real }) {
      if (root.origin === 'managed') return await foreign(deps, [file, root.directory]);
      const kept = await whyWithheld(deps, root, { file, real });
      if (kept !== undefined) return kept;
      // fail-closed: the person who added the plugin has not seen files elsewhere.
      if (root.home !== undefined && !isInside(real, root.home)) {
        return `it leads out of the plugin to ${real}`;
      }
      if (root.level === undefined) return undefined;
      const isMarkdown = real.toLowerCase().endsWith('.md');
      if (homes.some((home) => isInside(real, home))) {
        return isMarkdown ? undefined : `it leads to ${real}, which is no Markdown`;
      }
      if (!isMarkdown) return `it leads out of the project to ${real}, which is no Markdown`;
      // fail-closed: the links of an untrusted folder were not reviewed.
      return (await isTrusted(deps, root.level))
        ? undefined
        : `it leads out of the project to ${real}; trust the folder, or name the place with --add-dir`;
    },
  };
}

/**
 * Why a file reached through a link is withheld by a rule against reading either of its names; undefined when
 * it may be shown. A file without links in a skill directory is meant to be shown, whatever the rules say.
 */
export async function whyWithheld(
  deps: Pick<HomesDeps, 'fs' | 'configDir' | 'isHidden'>,
  { level, home, directory }: Pick<SkillRoot, 'level' | 'home' | 'directory'>,
  { file, real }: { readonly file: string; readonly real: string },
): Promise<string | undefined> {
  if (deps.isHidden === undefined || file === real) return undefined;
  const base = [level, home, deps.configDir].find(
    (one) => one !== undefined && isInside(file, one),
  );
  try {
    // Links above the base do not matter.
    const unlinked = join(
      await deps.fs.realPath(base ?? directory),
      relative(base ?? directory, file),
    );
    if (unlinked === real) return undefined;
  } catch {
    // fail-closed: the location is unknown, so a link may have led there.
  }
  return (await deps.isHidden(file)) || (await deps.isHidden(real))
    ? `it leads to ${real}, which a permission rule keeps from being read`
    : undefined;
}

/** fail-closed: a file that others can write is not the administrator's. */
async function foreign(deps: HomesDeps, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      if ((await deps.fs.stat(path))?.foreign === true) {
        return `${path} belongs to, or can be written by, others than the administrator`;
      }
    } catch (thrown) {
      return `${path} cannot be looked at: ${messageOf(thrown)}`;
    }
  }
  return undefined;
}

/** Checks trust in directories. */
export interface TrustChecker {
  /**
   * Whether the `.claude` of a directory may grant and execute. `used` is the document about to be used, in
   * that very version.
   */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
}

export async function isTrusted(
  deps: TrustChecker,
  directory: string,
  used?: UsedDocument,
): Promise<boolean> {
  try {
    return await deps.trusts(directory, used);
  } catch {
    // fail-closed: an error means no trust.
    return false;
  }
}

/** Checks the trust of each directory once per scan. */
export function rememberedTrust(deps: TrustChecker): (directory: string) => Promise<boolean> {
  const answers = new Map<string, Promise<boolean>>();
  return (directory) => {
    const answer = answers.get(directory) ?? isTrusted(deps, directory);
    answers.set(directory, answer);
    return answer;
  };
}
