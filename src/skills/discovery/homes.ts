import { messageOf } from '../../errors.js';
import { isInside, join, relative } from '../../platform/fs/paths.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import type { UsedDocument } from '../../settings/trust/types.js';
import type { SkillPlaces, SkillRoot } from './roots.js';

/** Decides whether a file that links lead to may be read as a skill, or as an agent. */
export interface Homes {
  /** Why not; undefined when it may. */
  stray(
    root: Pick<SkillRoot, 'origin' | 'directory' | 'level' | 'home'>,
    at: { readonly file: string; readonly real: string },
  ): Promise<string | undefined>;
}

export interface HomesDeps extends SkillPlaces, Trusting {
  /** What the user's own are kept in below the configuration directory; `skills` unless said otherwise. */
  readonly userFolder?: string;
}

/**
 * What a skill's file says goes to the model without a question, so a link in a foreign repository
 * must not fetch a key or a note from elsewhere. Inside are the project, the added directories and
 * the user's own skills. A trusted project may lead outside, to Markdown.
 */
export async function openHomes(deps: HomesDeps): Promise<Homes> {
  const { fs, cwd, configDir, userFolder = 'skills' } = deps;
  const top = projectLevels(cwd).at(-1) ?? cwd;
  const homes: string[] = [];
  for (const home of [top, ...deps.additionalDirectories(), join(configDir, userFolder)]) {
    // fail-closed: a home that cannot be found is home to nothing.
    await fs.realPath(home).then(
      (real) => homes.push(real),
      () => undefined,
    );
  }
  return {
    async stray(root, { file, real }) {
      if (root.origin === 'managed') return await foreign(deps, [file, root.directory]);
      const kept = await keptByRules(deps, root, { file, real });
      if (kept !== undefined) return kept;
      // fail-closed: whoever let the plugin in has not seen what is elsewhere.
      if (root.home !== undefined && !isInside(real, root.home)) {
        return `it leads out of the plugin to ${real}`;
      }
      if (root.level === undefined) return undefined;
      const isMarkdown = real.toLowerCase().endsWith('.md');
      if (homes.some((home) => isInside(real, home))) {
        return isMarkdown ? undefined : `it leads to ${real}, which is no Markdown`;
      }
      if (!isMarkdown) return `it leads out of the project to ${real}, which is no Markdown`;
      // fail-closed: where the links of this folder lead was not looked at.
      return (await isTrusted(deps, root.level))
        ? undefined
        : `it leads out of the project to ${real}; trust the folder, or name the place with --add-dir`;
    },
  };
}

/**
 * What is shown by way of a link must not be what rules hide under one of its names. What lies without
 * a link where skills are looked for says itself that it is one, and rules do not take it away. Why not;
 * undefined when it may be shown.
 */
export async function keptByRules(
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
    // fail-closed: where it lies cannot be told, so that a link may have led there.
  }
  return (await deps.isHidden(file)) || (await deps.isHidden(real))
    ? `it leads to ${real}, which a permission rule keeps from being read`
    : undefined;
}

/** fail-closed: what others can write is not an administrator's word. */
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

/** Who says whether the `.claude` of a directory may grant and execute. */
export interface Trusting {
  /** `used`: a document of it that is about to be used, in the text in which that happens. */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
}

export async function isTrusted(
  deps: Trusting,
  directory: string,
  used?: UsedDocument,
): Promise<boolean> {
  try {
    return await deps.trusts(directory, used);
  } catch {
    // fail-closed: no answer is no trust.
    return false;
  }
}

/** Each directory is asked about once for each look. */
export function rememberedTrust(deps: Trusting): (directory: string) => Promise<boolean> {
  const answers = new Map<string, Promise<boolean>>();
  return (directory) => {
    const answer = answers.get(directory) ?? isTrusted(deps, directory);
    answers.set(directory, answer);
    return answer;
  };
}
