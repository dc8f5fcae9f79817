import { PortcullisError } from '../../errors.js';
import type { Result } from '../../lib/result.js';
import type { ReadSkill } from '../head/head.js';
import type { SkillOverride } from '../listing/listing.js';
import type { Skill, SkillHead, SkillOrigin, SkippedSkill } from '../skill.js';
import { type Candidate, findIn } from './find.js';
import { openHomes, rememberedTrust } from './homes.js';
import { nameProblem } from './names.js';
import type { ReadFile, SkillFileReader } from './read-file.js';
import { type SkillPlaces, type SkillRoot, skillRoots } from './roots.js';

export interface ScanDeps extends SkillPlaces {
  trusts(directory: string): Promise<boolean>;
  override?(name: string): SkillOverride | undefined;
  readonly only?: readonly string[] | undefined;
  readonly nestedRoots: readonly SkillRoot[];
  readonly reader: SkillFileReader;
  /** The version of a file that may be used, or why there is none. */
  admit(file: string, read: ReadFile): Promise<Result<ReadFile, string>>;
  readonly bundledSkills: readonly Skill[];
}

export interface ShelfEntry {
  readonly skill: Skill;
  /** Of a plugin's skill whose head gives it another name: the name by its directory. */
  readonly alias?: string;
  /** The directory whose trust decides; absent where no project's does. */
  readonly level?: string;
  /** Absent for what is not a file. */
  readonly read?: EntryText;
}

/** What an entry was read from. */
export interface EntryText {
  readonly file: string;
  /** The file behind all links. */
  readonly real: string;
  /** All of the version that is in force, and its text without the head. */
  readonly text: string;
  readonly body: string;
  /** What stands in the file, also where an earlier version stays in force. */
  readonly onDisk: string;
}

/** Everything there is at one moment. */
export interface Shelf {
  readonly entries: readonly ShelfEntry[];
  readonly byName: ReadonlyMap<string, ShelfEntry>;
  /** Second names that no skill has for its own. */
  readonly byAlias: ReadonlyMap<string, ShelfEntry>;
  readonly skipped: readonly SkippedSkill[];
}

/** Looks through all places, decides which skill has which name, and reads the heads of those. */
export async function scanSkills(deps: ScanDeps): Promise<Shelf> {
  const trusts = rememberedTrust(deps);
  const homes = await openHomes({ ...deps, trusts });
  const names = new NameBook(deps);
  const skippedFiles: SkippedSkill[] = [];
  for (const root of [...(await skillRoots(deps)), ...deps.nestedRoots]) {
    const found = await findIn(root, { fs: deps.fs, homes });
    for (const candidate of found.candidates) names.claim(candidate);
    skippedFiles.push(...found.skipped);
  }
  const entries: ShelfEntry[] = [];
  const skipped: SkippedSkill[] = [];
  for (const [name, candidate] of names.claims) {
    const one = await load(name, candidate, deps);
    if ('skill' in one) entries.push(one);
    else skipped.push(one);
  }
  for (const skill of deps.bundledSkills) {
    const reason = names.refuseBundled(skill.name);
    if (reason === undefined) entries.push({ skill: withOverride(skill, deps) });
    else skipped.push({ name: skill.name, file: skill.file, reason });
  }
  entries.sort((a, b) => compare(a.skill, b.skill));
  const byName = new Map<string, ShelfEntry>();
  for (const entry of entries) {
    const { name, file } = entry.skill;
    const holder = byName.get(name);
    if (holder === undefined) byName.set(name, entry);
    else {
      const reason = `${holder.skill.file} has the same name and goes first`;
      skipped.push({ name, file, reason, told: true });
    }
  }
  const byAlias = new Map(entries.flatMap((entry) => aliased(entry, byName)));
  return {
    entries: [...byName.values()],
    byName,
    byAlias,
    skipped: [...skippedFiles, ...names.skipped, ...skipped],
  };
}

function aliased(
  entry: ShelfEntry,
  byName: ReadonlyMap<string, ShelfEntry>,
): readonly (readonly [string, ShelfEntry])[] {
  const { alias, skill } = entry;
  const isFree = alias !== undefined && !byName.has(alias) && byName.get(skill.name) === entry;
  return isFree ? [[alias, entry]] : [];
}

/** Who has which name. The first that claims it gets it. */
class NameBook {
  readonly claims = new Map<string, Candidate>();
  readonly skipped: SkippedSkill[] = [];
  readonly #files = new Map<string, string>();
  readonly #deps: ScanDeps;

  constructor(deps: ScanDeps) {
    this.#deps = deps;
  }

  claim(candidate: Candidate): void {
    const { file, real } = candidate;
    const name = this.#nameFor(candidate);
    const reason = this.#refusal(name, candidate);
    if (reason !== undefined) {
      const isClash = this.#files.get(real) === undefined && this.claims.has(name);
      this.skipped.push({ name, file, reason, told: isClash ? true : undefined });
      return;
    }
    this.#files.set(real, file);
    this.claims.set(name, candidate);
  }

  /** Bundled skills come last: every other of the same name stands in their place. */
  refuseBundled(name: string): string | undefined {
    const holder = this.claims.get(name);
    if (holder !== undefined) return `${holder.file} has the same name and goes first`;
    return this.#unwanted(name, 'bundled');
  }

  #refusal(name: string, { real, root }: Candidate): string | undefined {
    const same = this.#files.get(real);
    if (same !== undefined) return `it is the same file as ${same}`;
    const holder = this.claims.get(name);
    if (holder !== undefined) return `${holder.file} has the same name and goes first`;
    return this.#unwanted(name, root.origin);
  }

  #nameFor({ name, root }: Candidate): string {
    if (root.prefix === undefined) return name;
    if (root.origin === 'plugin') return `${root.prefix}:${name}`;
    // Where it clashes with nothing a nested skill has its plain name.
    return this.claims.has(name) ? `${root.prefix}:${name}` : name;
  }

  #unwanted(name: string, origin: SkillOrigin): string | undefined {
    const { only } = this.#deps;
    if (only !== undefined && !only.includes(name)) return 'the host did not ask for it';
    if (origin === 'plugin' || this.#deps.override?.(name) !== 'off') return undefined;
    return 'skillOverrides has it off';
  }
}

async function load(
  name: string,
  candidate: Candidate,
  deps: ScanDeps,
): Promise<ShelfEntry | SkippedSkill> {
  const { root, file } = candidate;
  const read = await deps.reader.read(candidate);
  if (!read.ok) return { name, file, reason: read.error };
  // What an administrator changed is nobody's to refuse.
  const isManaged = root.source === 'managed';
  const admitted = isManaged ? read : await deps.admit(file, read.value);
  if (!admitted.ok) return { name, file, reason: admitted.error };
  const { skill: found, text } = admitted.value;
  const refusal = refusalOf(found);
  if (refusal !== undefined) return { name, file, reason: refusal, told: true };
  const { real } = candidate;
  const entryText = { file, real, text, body: found.body, onDisk: read.value.text };
  const skill = skillOf(name, candidate, found, deps);
  const body = (): Promise<string> => unchangedBody(entryText, deps.reader);
  const alias = skill.name === name ? undefined : name;
  return { skill: { ...skill, body }, read: entryText, level: root.level, alias };
}

async function unchangedBody(
  { file, real, body, onDisk }: EntryText,
  reader: SkillFileReader,
): Promise<string> {
  if ((await reader.textOf({ file, real })) === onDisk) return body;
  // fail-closed: what was decided by the old file does not hold for this text.
  throw new PortcullisError('io', `${file} has changed since it was read`, {
    remedy: 'Call the skill again.',
  });
}

function refusalOf({ refusal }: Pick<ReadSkill, 'refusal'>): string | undefined {
  if (refusal === undefined) return undefined;
  const place = refusal.line === undefined ? '' : `line ${refusal.line}: `;
  return `${place}${refusal.message}`;
}

function skillOf(
  name: string,
  { root, file, directory }: Candidate,
  { head, body, bodyLine, problems }: ReadSkill,
  deps: Pick<ScanDeps, 'override'>,
): Skill {
  const skill: Skill = {
    name: pluginName(name, head, root),
    origin: root.origin,
    source: root.source,
    file,
    directory,
    head,
    // fail-closed: not before somebody wants to know is a project's folder asked about.
    trusted: root.level === undefined && root.trusted !== false,
    bodyLine,
    problems,
    body: () => Promise.resolve(body),
    plugin: root.plugin,
    isCommand: root.kind === 'commands' ? true : undefined,
  };
  return withOverride(skill, deps);
}

/** The head of a plugin's skill may say its name, not its plugin. */
function pluginName(
  name: string,
  { displayName }: SkillHead,
  { origin, prefix }: SkillRoot,
): string {
  if (origin !== 'plugin' || displayName === undefined) return name;
  return nameProblem(displayName) === undefined ? `${prefix}:${displayName}` : name;
}

/** `user-invocable-only` is what the head itself can say. */
function withOverride(skill: Skill, deps: Pick<ScanDeps, 'override'>): Skill {
  const said = skill.origin === 'plugin' ? undefined : deps.override?.(skill.name);
  if (said !== 'user-invocable-only') return skill;
  return { ...skill, head: { ...skill.head, disableModelInvocation: true } };
}

const ORDER: readonly SkillOrigin[] = [
  'managed',
  'user',
  'project',
  'nested',
  'plugin',
  'mcp',
  'command',
  'bundled',
];

/** The same in every run, so that the same listing is the same bytes. */
function compare(a: Skill, b: Skill): number {
  const byOrigin = ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin);
  if (byOrigin !== 0) return byOrigin;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
