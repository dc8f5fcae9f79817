import { displayPath } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { recordKey, type SkillRecord } from '../../skills/ledger-record.js';
import { type SkillListing, skillListing } from '../../skills/listing.js';
import type { Skill, SkippedSkill } from '../../skills/skill.js';
import { ellipsis } from '../../util/truncate.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { type SkillsHere, skillsHere } from './skills-here.js';
import { recordData, recordText, skillData } from './skills-text.js';

export const USAGE =
  'portcullis skills list [--touch <path>] [--add-dir <dir>] [--window <tokens>] [--trust] [--settings F] [--json]';

/** Shows what was found, from where, and why some of it is not in force. Nothing is run. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['touch', 'add-dir', 'settings', 'window'],
  });
  if (words.length > 0) {
    const message = `skills list does not understand "${visible(words[0] ?? '')}"`;
    throw new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
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
    const report = await reportOf(here, windowFrom(values.get('window')));
    if (!here.ledger.ok) {
      output.warn(`the ledger of skills is not used: ${visible(here.ledger.error)}`);
    }
    output.out(
      switches.has('json') ? `${JSON.stringify(asData(report), null, 2)}\n` : text(report),
    );
    return EXIT.done;
  } finally {
    here.close();
  }
}

interface Report {
  readonly here: SkillsHere;
  readonly skills: readonly Skill[];
  readonly skipped: readonly SkippedSkill[];
  readonly listing: SkillListing;
  /** What became of it in earlier sessions. */
  recordOf(skill: Skill): SkillRecord | undefined;
}

async function reportOf(here: SkillsHere, windowTokens: number | undefined): Promise<Report> {
  const skills = await here.book.all();
  const listing = skillListing(skills, { ...here.listing, windowTokens });
  const records = here.ledger.ok ? here.ledger.value : [];
  const byKey = new Map(records.map((record) => [recordKey(record), record]));
  const recordOf: Report['recordOf'] = (skill) => byKey.get(recordKey(skill));
  return { here, skills, skipped: await here.book.skipped(), listing, recordOf };
}

function windowFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const window = Number(text);
  if (Number.isInteger(window) && window > 0) return window;
  throw new PortcullisError('usage', '--window wants a number of tokens', { remedy: USAGE });
}

function asData({ here, skills, skipped, listing, recordOf }: Report): unknown {
  const { cwd, trusted } = here;
  return {
    cwd,
    trusted,
    skills: skills.map((skill) => ({
      ...skillData(skill),
      dormant: here.book.isDormant(skill),
      shown: listing.shown.find(({ name }) => name === skill.name)?.form ?? 'no',
      ledger: recordData(recordOf(skill)),
    })),
    skipped,
    listing: {
      text: listing.text,
      bytes: Buffer.byteLength(listing.text),
      cut: listing.cut,
      ...(listing.note === undefined ? {} : { note: listing.note }),
    },
  };
}

function text(report: Report): string {
  const { here, skills, skipped, listing } = report;
  const { cwd } = here;
  const lines = skills.flatMap((skill) => [
    `${visible(skill.name)}  (${whereOf(skill)})  ${visible(displayPath(skill.file, cwd))}\n`,
    ...(skill.head.description === undefined
      ? []
      : [`  ${ellipsis(visible(skill.head.description), 160)}\n`]),
    ...notesOf(skill, report).map((note) => `  ${note}\n`),
  ]);
  const odd = skipped.map(
    ({ name, file, reason }) =>
      `  ${visible(name)}  ${visible(displayPath(file, cwd))}\n    ${visible(reason)}\n`,
  );
  const cut = listing.note === undefined ? '' : `\nNote: ${visible(listing.note)}\n`;
  const head = skills.length === 0 ? 'There are no skills here.\n' : lines.join('');
  return `${head}${odd.length === 0 ? '' : `\nNot in force\n${odd.join('')}`}${cut}`;
}

function whereOf({ origin, source }: Skill): string {
  return origin === 'command' ? `${source} command` : origin;
}

/** What keeps somebody from using it, and what it would be allowed. */
function notesOf(skill: Skill, { here, listing, recordOf }: Report): readonly string[] {
  const { head, trusted, problems } = skill;
  const notes: string[] = [];
  if (head.disableModelInvocation === true) notes.push('only people start it');
  if (head.userInvocable === false) notes.push('only the model starts it');
  if (here.book.isDormant(skill))
    notes.push(`waits for a file: ${visible((head.paths ?? []).join(', '))}`);
  const cut = listing.cut.find(({ name }) => name === skill.name);
  if (cut !== undefined) notes.push(`in the list of the model: ${cut.how}`);
  if (head.allowedTools !== undefined) {
    const held = trusted ? '' : ' (held back: the folder is not trusted)';
    notes.push(`grants ${visible(head.allowedTools.join(', '))}${held}`);
  }
  if (head.fenceTools !== undefined)
    notes.push(`may call only ${visible(head.fenceTools.join(', ')) || 'nothing'}`);
  if (head.disallowedTools !== undefined)
    notes.push(`may not call ${visible(head.disallowedTools.join(', '))}`);
  if (head.hooks !== undefined)
    notes.push(`brings hooks${trusted ? '' : ' (held back: the folder is not trusted)'}`);
  const record = recordOf(skill);
  if (record !== undefined) notes.push(recordText(record));
  for (const { line, message } of problems)
    notes.push(`problem${line === undefined ? '' : ` in line ${line}`}: ${visible(message)}`);
  return notes;
}
