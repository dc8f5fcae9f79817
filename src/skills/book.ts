import { isInside, relative, resolve, toPosix } from '../env/paths.js';
import type { ParseYaml } from '../util/frontmatter.js';
import { bundledSkills } from './bundled-skills.js';
import type { Extraction } from './extract.js';
import { openNestedFinder } from './find-nested.js';
import { projectLevels, type SkillPlaces, type SkillRoot } from './find-roots.js';
import type { SkillOverride } from './listing.js';
import { asName } from './names.js';
import { fitsPaths } from './path-globs.js';
import { openSkillReader } from './read-file.js';
import { type Shelf, type ShelfEntry, scanSkills } from './scan.js';
import type { Skill, SkillBook } from './skill.js';

export interface SkillBookDeps extends SkillPlaces {
  /**
   * Whether what stands in the `.claude` of this directory may grant and execute, as it is now. Asked
   * about the start directory, those above it, added ones and sub-directories alike.
   */
  trusts(directory: string): Promise<boolean>;
  /** Whether git ignores a path. A throw means that nobody knows, and the path is not used. */
  isIgnored(path: string): Promise<boolean>;
  /** `skillOverrides`, by name. */
  override?(name: string): SkillOverride | undefined;
  /** The only skills that the host wants; all when absent. */
  readonly only?: readonly string[] | undefined;
  /** Where bundled skills put their files. Absent: there are none (`disableBundledSkills`). */
  readonly bundled?: Extraction | undefined;
  readonly parseYaml?: ParseYaml | undefined;
}

/** The skills of a session, and which of them wait for a file. */
export interface LiveSkillBook extends SkillBook {
  /** Its `paths` name files and none of them was touched: people may run it, the model does not know it. */
  isDormant(skill: Skill): boolean;
}

/** Nothing is read before something is asked for. */
export function openSkillBook(deps: SkillBookDeps): LiveSkillBook {
  const nested = openNestedFinder(deps);
  const reader = openSkillReader(deps);
  const awake = new Set<string>();
  let nestedRoots: readonly SkillRoot[] = [];
  let shelf: Promise<Shelf> | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const scan = (): Promise<Shelf> => {
    const bundled = deps.bundled;
    return scanSkills({
      ...deps,
      nestedRoots,
      reader,
      bundledSkills: async () => (bundled === undefined ? [] : await bundledSkills(bundled)),
    });
  };
  const current = (): Promise<Shelf> => {
    shelf ??= scan().catch((thrown: unknown) => {
      // The next who asks looks again.
      shelf = undefined;
      throw thrown;
    });
    return shelf;
  };
  /** Changes come one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  const isDormant = (skill: Skill): boolean =>
    skill.head.paths !== undefined && !awake.has(skill.file);

  async function rescan(): Promise<Shelf> {
    const next = await scan();
    shelf = Promise.resolve(next);
    return next;
  }

  /** The entry in the version that is on disk now. */
  async function fresh(name: string): Promise<ShelfEntry | undefined> {
    const entry = lookUp(await current(), name);
    if (entry?.stamp === undefined) return entry;
    if ((await reader.stampOf(entry.skill.file)) === entry.stamp) return entry;
    return lookUp(await rescan(), name);
  }

  return {
    isDormant,
    list: async () => (await current()).entries.map(({ skill }) => skill),
    skipped: async () => [...(await current()).skipped, ...nested.skipped()],
    find: (name) =>
      inTurn(async () => {
        const entry = await fresh(asName(name));
        if (entry?.level === undefined) return entry?.skill;
        return { ...entry.skill, trusted: await asked(deps, entry.level) };
      }),
    touched: (paths) =>
      inTurn(async () => {
        const before = await current();
        const roots = await nested.touched(paths);
        nestedRoots = [...nestedRoots, ...roots];
        const after = roots.length === 0 ? before : await rescan();
        const known = new Set(before.entries.map(({ skill }) => skill.file));
        const fresh = after.entries.filter(({ skill }) => !known.has(skill.file));
        const woken = after.entries.filter(
          ({ skill, level }) => isDormant(skill) && isAbout(skill, level, paths),
        );
        for (const { skill } of woken) awake.add(skill.file);
        const both = new Set([...fresh.filter(({ skill }) => !isDormant(skill)), ...woken]);
        return [...both].map(({ skill }) => skill);
      }),
    refresh: () =>
      inTurn(async () => {
        nested.forget();
        const before = shelf === undefined ? undefined : signatureOf(await shelf);
        return signatureOf(await rescan()) !== before;
      }),
  };

  function isAbout({ head }: Skill, level: string | undefined, paths: readonly string[]): boolean {
    const bases =
      level === undefined ? [...projectLevels(deps.cwd), ...deps.additionalDirectories()] : [level];
    return paths.some((path) => {
      const file = resolve(deps.cwd, path);
      return bases.some(
        (base) =>
          isInside(file, base) && fitsPaths(head.paths ?? [], toPosix(relative(base, file))),
      );
    });
  }
}

/** By its name; a plugin's also by the last part of it, where that is free. */
function lookUp({ byName, entries }: Shelf, name: string): ShelfEntry | undefined {
  const exact = byName.get(name);
  if (exact !== undefined) return exact;
  const bare = entries.filter(
    ({ skill }) => skill.origin === 'plugin' && skill.name.endsWith(`:${name}`),
  );
  return bare.length === 1 ? bare[0] : undefined;
}

async function asked(deps: SkillBookDeps, level: string): Promise<boolean> {
  try {
    return await deps.trusts(level);
  } catch {
    // fail-closed: no answer is no trust.
    return false;
  }
}

/** All that a listing is made of. */
function signatureOf({ entries }: Shelf): string {
  return JSON.stringify(
    entries.map(({ skill: { name, origin, head } }) => [
      name,
      origin,
      head.description,
      head.whenToUse,
      head.disableModelInvocation,
      head.userInvocable,
      head.paths,
    ]),
  );
}
