import { statSync } from 'node:fs';
import { nodeFileSystem } from '../../env/node-fs.js';
import {
  basename,
  configDirectory,
  dirname,
  displayPath,
  findRepositoryRoot,
  join,
  resolve,
} from '../../env/paths.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { RULE_TOOLS } from '../../permissions/rule-tools.js';
import type { SkillFinding } from '../../skills/finding.js';
import { keptByRules } from '../../skills/homes.js';
import { validateSkill } from '../../skills/validate.js';
import { parseYaml } from '../../util/parse-yaml.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { startHere } from './start-here.js';

export const USAGE = 'portcullis skills validate [paths] [--json]';
const SKILL_FILE = 'SKILL.md';
const MOST_BYTES = 4 * 1024 * 1024;

interface Validated {
  readonly file: string;
  readonly findings: readonly SkillFinding[];
}

/**
 * Holds skills against the public specification. A path is a skill's file, its directory, or a
 * directory of skills; without one those of the project and of the user are looked at.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  const cwd = process.cwd();
  const results: Validated[] = [];
  if (words.length > 0) {
    for (const file of await named(words, cwd)) {
      results.push({ file, findings: await validated(file) });
    }
  } else results.push(...(await usual(cwd, output)));
  const all = results.flatMap(({ findings }) => findings);
  const errors = all.filter(({ severity }) => severity === 'error').length;
  if (switches.has('json')) output.out(`${JSON.stringify(results, null, 2)}\n`);
  else {
    for (const { file, findings } of results)
      for (const finding of findings) output.out(lineOf(file, finding, cwd));
    output.out(
      `${results.length} ${results.length === 1 ? 'skill' : 'skills'}, ${errors} errors, ${all.length - errors} warnings\n`,
    );
  }
  return errors === 0 ? EXIT.done : EXIT.error;
}

function lineOf(file: string, { severity, line, message }: SkillFinding, cwd: string): string {
  return `${visible(displayPath(file, cwd))}:${line ?? 1}: ${severity}: ${visible(message)}\n`;
}

async function named(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const word of words) {
    const path = resolve(cwd, word);
    const kind = statSync(path, { throwIfNoEntry: false });
    // fail-closed: a path that is not there would pass without having been looked at.
    if (kind === undefined) throw nothing(`there is nothing at ${visible(word)}`);
    const found = kind.isDirectory() ? await skillsIn(path) : [path];
    if (found.length === 0) throw nothing(`there is no skill at ${visible(word)}`);
    files.push(...found);
  }
  return files;
}

function nothing(message: string): PortcullisError {
  return new PortcullisError('usage', message, {
    remedy: `name a ${SKILL_FILE}, the directory of one, or a directory of skills`,
  });
}

/** The directory is a skill, or holds some. */
async function skillsIn(directory: string): Promise<readonly string[]> {
  const entries = await nodeFileSystem.list(directory).catch(() => []);
  const own = entries.find(({ name }) => name.toLowerCase() === SKILL_FILE.toLowerCase());
  if (own !== undefined) return [join(directory, own.name)];
  const files = entries.map(({ name }) => join(directory, name, SKILL_FILE));
  return files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
}

/** As a session here would have them: it shows no file that a link leads to and a rule hides. */
async function usual(cwd: string, { warn }: Output): Promise<readonly Validated[]> {
  const { places } = await startHere({ trust: false, warn });
  const results: Validated[] = [];
  for (const root of usualRoots(cwd)) {
    for (const file of await skillsIn(root.directory)) {
      const message = await hiddenAt(file, root, places);
      const findings: readonly SkillFinding[] =
        message === undefined ? await validated(file) : [{ severity: 'error', message }];
      results.push({ file, findings });
    }
  }
  return results;
}

/** Why a file is not to be looked at; undefined when it may be. */
async function hiddenAt(
  file: string,
  root: UsualRoot,
  places: Parameters<typeof keptByRules>[0],
): Promise<string | undefined> {
  try {
    const real = await nodeFileSystem.realPath(file);
    return await keptByRules(places, root, { file, real });
  } catch (thrown) {
    // fail-closed: rules may hide what a link leads to that nobody can follow.
    return `it cannot be read: ${messageOf(thrown)}`;
  }
}

interface UsualRoot {
  readonly directory: string;
  readonly level?: string;
}

function usualRoots(cwd: string): readonly UsualRoot[] {
  const top = findRepositoryRoot(cwd) ?? cwd;
  const levels = [cwd];
  for (let at = cwd; at !== top && dirname(at) !== at; ) {
    at = dirname(at);
    levels.push(at);
  }
  const ofProject = levels.map((level) => ({ level, directory: join(level, '.claude', 'skills') }));
  const directory = join(configDirectory(process.env), 'skills');
  return ofProject.some((one) => one.directory === directory)
    ? ofProject
    : [...ofProject, { directory }];
}

async function validated(file: string): Promise<readonly SkillFinding[]> {
  if (basename(file) !== SKILL_FILE) {
    const message = `the file must be called ${SKILL_FILE}, not ${basename(file)}`;
    return [{ severity: 'error', message }];
  }
  const directory = dirname(file);
  try {
    return await validateSkill({
      text: await nodeFileSystem.readText(file, { maxBytes: MOST_BYTES }),
      directoryName: basename(directory),
      exists: async (path) =>
        statSync(join(directory, path), { throwIfNoEntry: false }) !== undefined,
      knownTools: Object.keys(RULE_TOOLS),
      parseYaml,
    });
  } catch (thrown) {
    return [{ severity: 'error', message: `it cannot be read: ${messageOf(thrown)}` }];
  }
}
