import { nodeFileSystem } from '../../env/node-fs.js';
import { displayPath, join, relative, toPosix } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import type { Skill } from '../../skills/skill.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { type SkillsHere, skillsHere } from './skills-here.js';
import { skillData } from './skills-text.js';

export const USAGE =
  'portcullis skills show <name> [--touch <path>] [--add-dir <dir>] [--trust] [--settings F] [--json]';

/** Shows one skill as it would be read: head, text and files. Nothing in it is run or filled in. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['touch', 'add-dir', 'settings'],
  });
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new PortcullisError('usage', 'name one skill', { remedy: `usage: ${USAGE}` });
  }
  const added = values.get('add-dir');
  const here = await skillsHere({
    trust: switches.has('trust'),
    settings: values.get('settings'),
    warn: output.warn,
    ...(added === undefined ? {} : { addDirs: [added] }),
  });
  try {
    const touched = values.get('touch');
    if (touched !== undefined) await here.book.touched([touched]);
    const skill = await here.book.find(name);
    if (skill === undefined) throw await unknown(name, here);
    const body = await skill.body();
    const files = await filesOf(skill);
    if (switches.has('json')) {
      output.out(`${JSON.stringify({ ...skillData(skill), body, files }, null, 2)}\n`);
    } else output.out(text(skill, { body, files, cwd: here.cwd }));
    return EXIT.done;
  } finally {
    here.close();
  }
}

async function unknown(name: string, { book }: SkillsHere): Promise<PortcullisError> {
  const wanted = name.replace(/^\//, '');
  const skipped = (await book.skipped()).find((one) => one.name === wanted);
  if (skipped !== undefined) {
    const message = `the skill ${visible(wanted)} is not in force: ${visible(skipped.reason)}`;
    return new PortcullisError('usage', message, { remedy: skipped.file });
  }
  const known = (await book.all()).map((skill) => skill.name);
  const meant = nearest(wanted, known);
  return new PortcullisError('usage', `there is no skill ${visible(wanted)}`, {
    remedy:
      meant === undefined ? 'portcullis skills list shows them all' : `did you mean ${meant}?`,
  });
}

const MOST_FILES = 200;

/** By their paths from the skill's directory. A command stands among others and has no files. */
async function filesOf({ isCommand, directory }: Skill): Promise<readonly string[]> {
  if (isCommand === true) return [];
  const files: string[] = [];
  const open = [directory];
  for (let at = open.pop(); at !== undefined && files.length < MOST_FILES; at = open.pop()) {
    const entries = await nodeFileSystem.list(at).catch(() => []);
    for (const { name, kind } of entries) {
      const path = join(at, name);
      if (kind === 'directory' && name !== 'node_modules' && name !== '.git') open.push(path);
      else if (kind !== 'directory') files.push(toPosix(relative(directory, path)));
    }
  }
  return files.sort();
}

function text(
  skill: Skill,
  { body, files, cwd }: { body: string; files: readonly string[]; cwd: string },
): string {
  const { keys: _, ...head } = skill.head;
  const fields = Object.entries(head).map(([field, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    return `  ${field}: ${visible(shown)}\n`;
  });
  const problems = skill.problems.map(({ line, message }) => {
    const place = line === undefined ? '' : `:${line}`;
    return `  ${visible(displayPath(skill.file, cwd))}${place}: ${visible(message)}\n`;
  });
  const lines = body.split('\n').map((line) => `  ${visible(line)}\n`);
  const trusted = skill.trusted ? '' : ', not trusted: its grants, hooks and commands do not count';
  return [
    `${visible(skill.name)} (${skill.origin}${trusted})\n`,
    `${visible(displayPath(skill.file, cwd))}\n`,
    `\nHead\n${fields.join('')}`,
    ...(problems.length === 0 ? [] : [`\nProblems\n${problems.join('')}`]),
    ...(files.length === 0
      ? []
      : [`\nFiles\n${files.map((file) => `  ${visible(file)}\n`).join('')}`]),
    `\nText, from line ${skill.bodyLine}\n${lines.join('')}`,
  ].join('');
}
