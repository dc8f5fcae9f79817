import { PortcullisError } from '../../errors.js';
import type { SkillOverride } from '../listing/listing.js';
import type { Skill, SkillOrigin, SkippedSkill } from '../skill.js';
import { type Candidate, SkillFinder } from './find.js';
import { openHomes, rememberedTrust } from './homes.js';
import { nameProblem } from './names.js';
import type { SkillFileReader } from './read-file.js';
import { type SkillPlaces, type SkillRoot, skillRoots } from './roots.js';

export interface ScanDeps extends SkillPlaces {
  trusts(directory: string): Promise<boolean>;
  override?(name: string): SkillOverride | undefined;
  readonly nestedRoots: readonly SkillRoot[];
  readonly reader: SkillFileReader;
  readonly bundledSkills: readonly Skill[];
}

export interface SkillEntry {
  readonly skill: Skill;
  /** The directory's name of a plugin skill whose front matter renames it. */
  readonly alias?: string;
  /** The directory whose trust decides; absent outside projects. */
  readonly level?: string;
  /** Absent for skills without a file. */
  readonly read?: EntryText;
}

export interface EntryText {
  readonly file: string;
  /** The file with links resolved. */
  readonly real: string;
  /** The whole text of the version in force, and its body without the front matter. */
  readonly text: string;
  readonly body: string;
  /** The file's current text, even while an earlier version stays in force. */
  readonly onDisk: string;
}

export interface SkillSet {
  readonly entries: readonly SkillEntry[];
  /** By name, and by aliases that no other skill has as its name. */
  readonly byName: ReadonlyMap<string, SkillEntry>;
  readonly skipped: readonly SkippedSkill[];
}

/** Scans all directories, assigns names, and reads the skills that got one. */
export async function scanSkills(deps: ScanDeps): Promise<SkillSet> {
  const homes = await openHomes({ ...deps, trusts: rememberedTrust(deps) });
  const finder = new SkillFinder({ fs: deps.fs, homes });
  for (const root of [...(await skillRoots(deps)), ...deps.nestedRoots]) {
    await finder.lookInto(root);
  }
  const { claims, skipped } = claimNames(finder.candidates, deps);
  const entries: SkillEntry[] = [];
  for (const [name, candidate] of claims) {
    const one = await load(name, candidate, deps);
    if ('skill' in one) entries.push(one);
    else skipped.push(one);
  }
  for (const skill of deps.bundledSkills) {
    const { name, file } = skill;
    // A skill of the same name from any other source replaces a bundled one.
    const holder = claims.get(name);
    const reason = holder === undefined ? switchedOff(name, 'bundled', deps) : taken(holder.file);
    if (reason === undefined) entries.push({ skill: withOverride(skill, deps) });
    else skipped.push({ name, file, reason });
  }
  entries.sort((a, b) => compare(a.skill, b.skill));
  const byName = new Map<string, SkillEntry>();
  for (const entry of entries) {
    const { name, file } = entry.skill;
    const holder = byName.get(name);
    if (holder === undefined) byName.set(name, entry);
    else skipped.push({ name, file, reason: taken(holder.skill.file), told: true });
  }
  const inForce = [...byName.values()];
  for (const entry of inForce) {
    const { alias } = entry;
    if (alias !== undefined && !byName.has(alias)) byName.set(alias, entry);
  }
  return { entries: inForce, byName, skipped: [...finder.skipped, ...skipped] };
}

/** Assigns names; the first skill to claim one gets it. */
function claimNames(
  candidates: readonly Candidate[],
  deps: ScanDeps,
): { readonly claims: ReadonlyMap<string, Candidate>; readonly skipped: SkippedSkill[] } {
  const claims = new Map<string, Candidate>();
  const files = new Map<string, string>();
  const skipped: SkippedSkill[] = [];
  for (const candidate of candidates) {
    const { file, real, root } = candidate;
    const name = fullName(candidate, claims);
    const same = files.get(real);
    const holder = claims.get(name);
    if (same !== undefined) {
      skipped.push({ name, file, reason: `it is the same file as ${same}` });
    } else if (holder !== undefined) {
      skipped.push({ name, file, reason: taken(holder.file), told: true });
    } else {
      const reason = switchedOff(name, root.origin, deps);
      if (reason !== undefined) {
        skipped.push({ name, file, reason });
        continue;
      }
      files.set(real, file);
      claims.set(name, candidate);
    }
  }
  return { claims, skipped };
}

function taken(file: string): string {
  return `${file} has the same name and goes first`;
}

/** A nested skill has its plain name unless that clashes. */
function fullName({ name, root }: Candidate, claims: ReadonlyMap<string, unknown>): string {
  const { prefix, origin } = root;
  const isPlain = prefix === undefined || (origin !== 'plugin' && !claims.has(name));
  return isPlain ? name : `${prefix}:${name}`;
}

function switchedOff(
  name: string,
  origin: SkillOrigin,
  { override }: Pick<ScanDeps, 'override'>,
): string | undefined {
  const isOff = origin !== 'plugin' && override?.(name) === 'off';
  return isOff ? 'skillOverrides has it off' : undefined;
}

async function load(
  name: string,
  candidate: Candidate,
  deps: ScanDeps,
): Promise<SkillEntry | SkippedSkill> {
  const { root, file, real, directory } = candidate;
  const read = await deps.reader.read(candidate);
  if (!read.ok) return { name, file, reason: read.error };
  const { text, onDisk } = read.value;
  const { head, body, bodyLine, problems, refusal } = read.value.skill;
  if (refusal !== undefined) {
    const { line, message } = refusal;
    const reason = line === undefined ? message : `line ${line}: ${message}`;
    return { name, file, reason, told: true };
  }
  const { displayName } = head;
  // A plugin skill's front matter may change its name, but not the plugin's prefix.
  const isRenamed =
    root.origin === 'plugin' &&
    displayName !== undefined &&
    nameProblem(displayName) === undefined &&
    `${root.prefix}:${displayName}` !== name;
  const skill: Skill = {
    name: isRenamed ? `${root.prefix}:${displayName}` : name,
    origin: root.origin,
    source: root.source,
    file,
    directory,
    head,
    // fail-closed: a project's skill counts as untrusted until trust is checked on use.
    trusted: root.level === undefined && root.trusted !== false,
    bodyLine,
    problems,
    plugin: root.plugin,
    isCommand: root.kind === 'commands' ? true : undefined,
    async body() {
      if ((await deps.reader.textOf({ file, real })) === onDisk) return body;
      // fail-closed: decisions about the old file do not hold for this text.
      throw new PortcullisError('io', `${file} has changed since it was read`, {
        remedy: 'Call the skill again.',
      });
    },
  };
  return {
    skill: withOverride(skill, deps),
    read: { file, real, text, body, onDisk },
    level: root.level,
    alias: isRenamed ? name : undefined,
  };
}

/** `user-invocable-only` has the same effect as the field in the front matter. */
function withOverride(skill: Skill, { override }: Pick<ScanDeps, 'override'>): Skill {
  const said = skill.origin === 'plugin' ? undefined : override?.(skill.name);
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

/** A stable order, so that the listing stays identical and cacheable. */
function compare(a: Skill, b: Skill): number {
  const byOrigin = ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin);
  if (byOrigin !== 0) return byOrigin;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
