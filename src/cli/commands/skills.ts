import { PortcullisError } from '../../errors.js';
import { table } from '../../lib/table.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { displayPath } from '../../platform/fs/paths.js';
import type { Project } from '../../project/project.js';
import {
  type LeftOutWhy,
  NOTHING_LEFT_OUT,
  recordKey,
  type Skill,
  type SkillListing,
  type SkillRecord,
  skillListing,
  skippedOf,
} from '../../project/skills.js';
import type { CommandCall, CommandSpec, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import {
  ADD_DIR_OPTION,
  commandGroup,
  inspectProject,
  JSON_OPTION,
  numberOption,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  textOption,
  warnOfSettings,
} from './project-call.js';
import { test } from './skills-test.js';
import { placeText, reportValidation } from './validation.js';

const TOUCH_OPTION: OptionSpec = {
  flags: '--touch <path>',
  description: 'List skills as after the use of this file.',
};
const COMMON = [TOUCH_OPTION, ADD_DIR_OPTION, TRUST_OPTION, SETTINGS_OPTION, JSON_OPTION];

const list: CommandSpec = {
  summary: 'List skills with their source, and those that are not in force.',
  options: [
    {
      flags: '--window <tokens>',
      description: 'Shorten the list as for a model with this context window.',
    },
    ...COMMON,
  ],
  run: (call) =>
    inspectProject(call, async (project) => {
      await warnOfSettings(call, project);
      const report = await readReport(project, call);
      const { ledger } = await project.skills();
      if (!ledger.ok) {
        call.output.warn(`the ledger of skills is not used: ${visible(ledger.error)}`);
      }
      if (call.options.json === true) printJson(call, reportData(report));
      else call.output.out(reportText(report));
      return EXIT.done;
    }),
};

interface SkillsReport {
  readonly cwd: string;
  readonly trusted: boolean;
  readonly skills: readonly (Skill & { readonly dormant: boolean })[];
  readonly skipped: readonly { readonly name: string; file: string; reason: string }[];
  readonly listing: SkillListing;
  /** How often the skill was offered and started in earlier sessions. */
  recordOf(skill: Skill): SkillRecord | undefined;
}

async function readReport(project: Project, { options }: CommandCall): Promise<SkillsReport> {
  const windowTokens = numberOption(options, 'window', { min: 1, max: 1e9, whole: true });
  const { book, ledger, listing } = await project.skills();
  const touched = textOption(options, 'touch');
  if (touched !== undefined) await book.touched([touched]);
  const skills = await book.all();
  const records = ledger.ok ? ledger.value : [];
  const byKey = new Map(records.map((record) => [recordKey(record), record]));
  return {
    cwd: project.cwd,
    trusted: (await project.settings()).trusted,
    skills: skills.map((skill) => ({ ...skill, dormant: book.isDormant(skill) })),
    skipped: await book.skipped(),
    listing: skillListing(skills, { ...listing, windowTokens }),
    recordOf: (skill) => byKey.get(recordKey(skill)),
  };
}

function reportData({ cwd, trusted, skills, skipped, listing, recordOf }: SkillsReport): unknown {
  const { text, cut, note, shown } = listing;
  return {
    cwd,
    trusted,
    skills: skills.map((skill) => ({
      ...skillData(skill),
      dormant: skill.dormant,
      shown: shown.find(({ name }) => name === skill.name)?.form ?? 'no',
      ledger: recordData(recordOf(skill)),
    })),
    skipped,
    listing: { text, bytes: Buffer.byteLength(text), cut, note },
  };
}

function reportText(report: SkillsReport): string {
  const { skills, skipped, listing } = report;
  const lines = skills.flatMap((skill) => [
    `${visible(skill.name)}  (${sourceText(skill)})  ${placeText(skill.file)}\n`,
    ...(skill.head.description === undefined
      ? []
      : [`  ${ellipsis(visible(skill.head.description), 160)}\n`]),
    ...notesOf(skill, report).map((note) => `  ${note}\n`),
  ]);
  const odd = skipped.map(
    ({ name, file, reason }) => `  ${visible(name)}  ${placeText(file)}\n    ${visible(reason)}\n`,
  );
  return [
    ...(skills.length === 0 ? ['There are no skills here.\n'] : lines),
    ...(odd.length === 0 ? [] : ['\nNot in force\n', ...odd]),
    listing.note === undefined ? '' : `\nNote: ${visible(listing.note)}\n`,
  ].join('');
}

function sourceText({ origin, source }: Skill): string {
  return origin === 'command' ? `${source} command` : origin;
}

/** What keeps a skill from being used, and what it would be allowed. */
function notesOf(
  skill: SkillsReport['skills'][number],
  { listing, recordOf }: SkillsReport,
): readonly string[] {
  const { head, trusted, problems, dormant } = skill;
  const held = trusted ? '' : ' (held back: the folder is not trusted)';
  const names = (list: readonly string[]): string => visible(list.join(', '));
  const cut = listing.cut.find(({ name }) => name === skill.name);
  const record = recordOf(skill);
  return [
    head.disableModelInvocation === true && 'only people start it',
    head.userInvocable === false && 'only the model starts it',
    dormant && `waits for a file: ${names(head.paths ?? [])}`,
    cut !== undefined && `in the list of the model: ${cut.how}`,
    head.allowedTools !== undefined && `grants ${names(head.allowedTools)}${held}`,
    head.fenceTools !== undefined && `may call only ${names(head.fenceTools) || 'nothing'}`,
    head.disallowedTools !== undefined && `may not call ${names(head.disallowedTools)}`,
    head.hooks !== undefined && `brings hooks${held}`,
    record !== undefined && recordText(record),
    ...problems.map(
      ({ line, message }) =>
        `problem${line === undefined ? '' : ` in line ${line}`}: ${visible(message)}`,
    ),
  ].filter((note) => note !== false);
}

const show: CommandSpec = {
  summary: 'Show the front matter, the text and the files of a skill.',
  arguments: [{ name: '<name>', description: 'The name of the skill.' }],
  options: COMMON,
  notes: 'Nothing in the skill is run or filled in.',
  run: (call) =>
    inspectProject(call, async (project) => {
      const [name = ''] = call.args;
      await warnOfSettings(call, project);
      const { book, find, files } = await project.skills();
      const touched = textOption(call.options, 'touch');
      if (touched !== undefined) await book.touched([touched]);
      const skill = await find(name);
      const content = { body: await skill.body(), files: await files(skill) };
      if (call.options.json === true) printJson(call, { ...skillData(skill), ...content });
      else call.output.out(skillText(skill, content));
      return EXIT.done;
    }),
};

function skillText(
  skill: Skill,
  { body, files }: { readonly body: string; readonly files: readonly string[] },
): string {
  const { keys: _, ...head } = skill.head;
  const fields = Object.entries(head).map(([field, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    return `  ${field}: ${visible(shown)}\n`;
  });
  const problems = skill.problems.map(
    ({ line, message }) => `  ${placeText(skill.file, line)}: ${visible(message)}\n`,
  );
  const trusted = skill.trusted ? '' : ', not trusted: its grants, hooks and commands do not count';
  return [
    `${visible(skill.name)} (${skill.origin}${trusted})\n${placeText(skill.file)}\n`,
    '\nHead\n',
    ...fields,
    ...(problems.length === 0 ? [] : ['\nProblems\n', ...problems]),
    ...(files.length === 0 ? [] : ['\nFiles\n', ...files.map((file) => `  ${visible(file)}\n`)]),
    `\nText, from line ${skill.bodyLine}\n`,
    ...body.split('\n').map((line) => `  ${visible(line)}\n`),
  ].join('');
}

/** A skill without its text. */
function skillData(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, origin, source, file, directory, head, trusted, bodyLine, problems } = skill;
  return { name, origin, source, file, directory, trusted, bodyLine, head, problems };
}

const validate: CommandSpec = {
  summary: 'Check skills against the public specification.',
  arguments: [
    {
      name: '[paths...]',
      description: 'Skills or directories of skills. Default: those of the project and the user.',
    },
  ],
  options: [JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { files, findings } = await (await project.skills()).validate(call.args);
      const count = files.length;
      return reportValidation(call, { noun: 'skill', count, findings, checked: files });
    }),
};

const ledger: CommandSpec = {
  summary: 'Show how often skills were offered, started and skipped in sessions.',
  arguments: [{ name: '[name]', description: 'Only this skill.' }],
  options: [JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { ledger: read } = await project.skills();
      if (!read.ok) {
        throw new PortcullisError('io', `the ledger of skills cannot be read: ${read.error}`, {
          remedy: 'correct it; otherwise the next session replaces it with a new one',
        });
      }
      const wanted = call.args[0]?.replace(/^\//, '');
      const records = read.value.filter((one) => wanted === undefined || one.name === wanted);
      if (call.options.json === true) {
        const skills = records.map((record) => {
          const { name, file } = record;
          return { name, file, ...recordData(record) };
        });
        printJson(call, { skills });
      } else call.output.out(ledgerText(records, wanted, project.cwd));
      return EXIT.done;
    }),
};

function ledgerText(
  records: readonly SkillRecord[],
  wanted: string | undefined,
  cwd: string,
): string {
  if (records.length === 0) {
    const what = wanted === undefined ? 'a skill' : `the skill ${visible(wanted)}`;
    return `No session has recorded ${what} yet.\n`;
  }
  const head = ['offered', 'by model', 'by people', 'skipped', 'last', 'skill'];
  const rows = records.map((record) => [
    String(record.offered),
    String(record.model),
    String(record.person),
    String(skippedOf(record)),
    visible(record.last),
    [
      `${visible(record.name)}  ${visible(displayPath(record.file, cwd))}`,
      ...shortfalls(record),
    ].join('; '),
  ]);
  return `${table([head, ...rows])}\n`;
}

function recordData(record: SkillRecord | undefined): Readonly<Record<string, unknown>> {
  return {
    offered: record?.offered ?? 0,
    chosen: { model: record?.model ?? 0, person: record?.person ?? 0 },
    skipped: record === undefined ? 0 : skippedOf(record),
    shortened: record?.shortened ?? 0,
    leftOut: record?.leftOut ?? NOTHING_LEFT_OUT,
    last: record?.last,
  };
}

function recordText(record: SkillRecord): string {
  const { offered, model, person } = record;
  return [
    `so far: offered in ${offered} sessions`,
    `chosen ${model} × by the model, ${person} × by people`,
    `skipped in ${skippedOf(record)}`,
    ...shortfalls(record),
  ].join('; ');
}

/** In how many sessions it was not shown, or not in full, and why. */
function shortfalls({ shortened, leftOut }: SkillRecord): readonly string[] {
  const left = LEFT_OUT_WORDS.flatMap(([why, words]) =>
    leftOut[why] === 0 ? [] : [`left out of ${leftOut[why]}: ${words}`],
  );
  return shortened === 0 ? left : [`shortened in ${shortened}`, ...left];
}

const LEFT_OUT_WORDS: readonly (readonly [LeftOutWhy, string])[] = [
  ['room', 'no room in the list'],
  ['people', 'only people start it'],
  ['settings', 'settings or the host hide it'],
  ['file', 'no file that it waits for was touched'],
];

export const command = commandGroup('List, check and test skills.', {
  list,
  show,
  validate,
  test,
  ledger,
});
