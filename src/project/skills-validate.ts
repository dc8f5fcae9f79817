import { messageOf, PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import { RULE_TOOLS } from '../permissions/rules/tools.js';
import { basename, dirname, join, resolve } from '../platform/fs/paths.js';
import { projectLevels } from '../platform/fs/project-levels.js';
import { whyWithheld } from '../skills/discovery/homes.js';
import { validateSkill } from '../skills/head/validate.js';
import type { DocumentPlaces, Finding } from './documents.js';

const SKILL_FILE = 'SKILL.md';
const MAX_BYTES = 4 * 1024 * 1024;

export interface SkillValidation {
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Checks skills against the public specification. A path is a skill's file, its directory, or a
 * directory of skills; without one the skills of the project and of the user are checked.
 */
export async function validateSkills(
  places: DocumentPlaces,
  paths: readonly string[],
): Promise<SkillValidation> {
  const roots = paths.length > 0 ? await namedFiles(places, paths) : await usualFiles(places);
  const findings: Finding[] = [];
  for (const { file, root } of roots) {
    const message = root === undefined ? undefined : await hiddenReason(places, root, file);
    if (message === undefined) findings.push(...(await checkFile(places, file)));
    else findings.push({ severity: 'error', place: file, message });
  }
  return { files: roots.map(({ file }) => file), findings };
}

interface SkillFile {
  readonly file: string;
  /** Where a session looks for it; undefined: a person named it. */
  readonly root?: SkillRoot;
}

interface SkillRoot {
  readonly directory: string;
  readonly level?: string;
}

async function namedFiles(
  places: DocumentPlaces,
  paths: readonly string[],
): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  for (const named of paths) {
    const path = resolve(places.cwd, named);
    const stat = await places.fs.stat(path);
    // fail-closed: a path that does not exist would pass without having been checked.
    if (stat === undefined) throw notFound(`there is nothing at ${visible(named)}`);
    const found = stat.kind === 'directory' ? await skillsIn(places, path) : [path];
    if (found.length === 0) throw notFound(`there is no skill at ${visible(named)}`);
    files.push(...found.map((file) => ({ file })));
  }
  return files;
}

function notFound(message: string): PortcullisError {
  return new PortcullisError('usage', message, {
    remedy: `name a ${SKILL_FILE}, the directory of one, or a directory of skills`,
  });
}

async function usualFiles(places: DocumentPlaces): Promise<readonly SkillFile[]> {
  const roots: SkillRoot[] = projectLevels(places.cwd).map((level) => ({
    level,
    directory: join(level, '.claude', 'skills'),
  }));
  const directory = join(places.configDir, 'skills');
  if (!roots.some((one) => one.directory === directory)) roots.push({ directory });
  const files: SkillFile[] = [];
  for (const root of roots) {
    for (const file of await skillsIn(places, root.directory)) files.push({ file, root });
  }
  return files;
}

/** The directory is a skill, or contains some. */
async function skillsIn({ fs }: DocumentPlaces, directory: string): Promise<readonly string[]> {
  const entries = await fs.list(directory).catch(() => []);
  const own = entries.find(({ name }) => name.toLowerCase() === SKILL_FILE.toLowerCase());
  if (own !== undefined) return [join(directory, own.name)];
  const files: string[] = [];
  for (const { name } of entries) {
    const file = join(directory, name, SKILL_FILE);
    if ((await fs.stat(file).catch(() => undefined))?.kind === 'file') files.push(file);
  }
  return files;
}

/** Why a session would not read the file; undefined when it would. */
async function hiddenReason(
  places: DocumentPlaces,
  root: SkillRoot,
  file: string,
): Promise<string | undefined> {
  try {
    const real = await places.fs.realPath(file);
    return await whyWithheld(places, root, { file, real });
  } catch (thrown) {
    // fail-closed: a rule may hide the target of a link that cannot be followed.
    return `it cannot be read: ${messageOf(thrown)}`;
  }
}

async function checkFile({ fs }: DocumentPlaces, place: string): Promise<readonly Finding[]> {
  if (basename(place) !== SKILL_FILE) {
    const message = `the file must be called ${SKILL_FILE}, not ${basename(place)}`;
    return [{ severity: 'error', place, message }];
  }
  const directory = dirname(place);
  try {
    const findings = await validateSkill({
      text: await fs.readText(place, { maxBytes: MAX_BYTES }),
      directoryName: basename(directory),
      exists: async (path) => (await fs.stat(join(directory, path))) !== undefined,
      knownTools: Object.keys(RULE_TOOLS),
    });
    return findings.map((finding) => ({ ...finding, place }));
  } catch (thrown) {
    return [{ severity: 'error', place, message: `it cannot be read: ${messageOf(thrown)}` }];
  }
}
