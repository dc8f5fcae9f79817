import { TOOL_SCHEMAS } from '../../build/generated/tool-schemas.js';
import { type ModelLayer, openModelLayer } from '../agents/core/model-layer.js';
import { reminder } from '../context/prompt/reminders.js';
import { systemPrompt } from '../context/prompt/system-prompt.js';
import { messageOf, PortcullisError } from '../errors.js';
import { err, ok, type Result } from '../lib/result.js';
import { nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import type { ToolDefinition } from '../model/client.js';
import { MessageAccumulator } from '../model/stream/accumulate.js';
import { systemClock } from '../platform/clock.js';
import { asName } from '../skills/discovery/names.js';
import skillDescription from '../skills/invoke/skill-tool.md';
import { listingMessage, type SkillListing, skillListing } from '../skills/listing/listing.js';
import bashDescription from '../tools/bash/bash.md';
import readDescription from '../tools/files/read.md';
import { parseTestTable, type TableRow } from './policy/test-table.js';
import type { Project } from './project.js';
import { type SkillScore, type SkillTest, scoreOf, type Trial } from './skills-score.js';

export interface SkillTestOptions {
  /** The table, absolute. */
  readonly file: string;
  readonly model: string | undefined;
  /** How often each prompt is shown. */
  readonly runs: number;
  readonly signal: AbortSignal;
  /** Opens the same project once more: a touched file changes which skills are offered. */
  reopen(): Project;
}

export interface SkillTestResult {
  readonly model: string;
  readonly trials: readonly Trial[];
  readonly score: SkillScore;
}

/**
 * Shows a model the listing of the skills here with each prompt of a table, and notes which skill it
 * starts. No tool is run. `none` is an expectation like every other.
 */
export async function testSkills(
  project: Project,
  options: SkillTestOptions,
): Promise<SkillTestResult> {
  const tests = await readTable(project, options.file);
  const layer = await openModel(project, options.model);
  const windowTokens = layer.choices.limits().contextWindow;
  const listings: Listings = new Map();
  for (const touch of new Set(tests.map((test) => test.touch))) {
    const place = touch === undefined ? project : options.reopen();
    try {
      const { book, listing } = await place.skills();
      if (touch !== undefined) await book.touched([touch]);
      listings.set(touch, skillListing(await book.all(), { ...listing, windowTokens }));
    } finally {
      if (place !== project) await place.close();
    }
  }
  for (const test of tests) await refuseUnknown(project, test, { listings, file: options.file });
  const trials: Trial[] = [];
  for (const test of tests) {
    const listing = listings.get(test.touch) ?? { text: '', shown: [], cut: [], hidden: [] };
    for (let run = 0; run < options.runs; run++) {
      const { prompt } = test;
      const chosen = await chosenSkills(layer, { listing, prompt }, options.signal);
      if (options.signal.aborted) throw new PortcullisError('aborted', 'interrupted');
      trials.push(
        chosen.ok
          ? { test, listing, chosen: chosen.value }
          : { test, listing, chosen: [], failure: chosen.error },
      );
    }
  }
  return { model: layer.choices.current().model, trials, score: scoreOf(trials) };
}

async function readTable({ places }: Project, file: string): Promise<readonly SkillTest[]> {
  let text: string;
  try {
    text = await places.fs.readText(file, { maxBytes: 4 * 1024 * 1024 });
  } catch (thrown) {
    throw new PortcullisError('usage', `the tests cannot be read: ${messageOf(thrown)}`, {
      remedy: 'name a file with tests',
    });
  }
  const tests = await parseSkillTests(text);
  if (tests.ok) return tests.value;
  // fail-closed: a table that is read in part would pass without having tested the rest.
  throw new PortcullisError('usage', `${file}:${tests.error}`, {
    remedy: 'a table is a list of {prompt, skill, touch?}; skill is a name or none',
  });
}

/** In place of a name: the model is to take no skill. */
const NONE = 'none';

/** Reads a table: YAML in its plainest form, or JSON, a list of the same maps. */
async function parseSkillTests(text: string): Promise<Result<readonly SkillTest[], string>> {
  const rows = await parseTestTable(text, ['prompt', 'skill', 'touch']);
  if (!rows.ok) return rows;
  const tests: SkillTest[] = [];
  for (const { line, fields } of rows.value) {
    const test = testOf(fields, line);
    if (!test.ok) return err(`${line}: ${test.error}`);
    tests.push(test.value);
  }
  return tests.length === 0 ? err('1: there is no test in it') : ok(tests);
}

function testOf(fields: TableRow['fields'], line: number): Result<SkillTest, string> {
  const { prompt, skill, touch } = fields;
  if (typeof prompt !== 'string' || prompt.trim() === '') return err('there is no "prompt"');
  // fail-closed: a test without an expectation would pass whatever happens.
  if (skill !== null && (typeof skill !== 'string' || skill === '')) {
    return err(`there is no "skill"; write the name of one, or ${NONE}`);
  }
  if (touch !== undefined && typeof touch !== 'string') return err('"touch" is not a text');
  const expected = skill === null || skill === NONE ? undefined : skill.replace(/^\//, '');
  return ok({ line, prompt, skill: expected, touch });
}

async function openModel(project: Project, model: string | undefined): Promise<ModelLayer> {
  const { cwd, places } = project;
  const { settings, env } = await project.settings();
  return await openModelLayer(
    {
      cwd,
      env,
      entrypoint: 'portcullis-skills-test',
      model,
      start: { kind: 'new', id: undefined },
      fork: false,
      persist: false,
      trust: false,
      emit: () => undefined,
    },
    { env, clock: systemClock, settings, fs: places.fs },
  );
}

/** What the model is shown, for each file that a test touches. */
type Listings = Map<string | undefined, SkillListing>;

/** fail-closed: a model is not tested on a skill that it cannot start. */
async function refuseUnknown(
  project: Project,
  { skill, line, touch }: SkillTest,
  { listings, file }: { readonly listings: Listings; readonly file: string },
): Promise<void> {
  const listing = listings.get(touch);
  if (skill === undefined || listing?.shown.some(({ name }) => name === skill) === true) return;
  const { book } = await project.skills();
  const isLeftOut = listing?.cut.some(({ name }) => name === skill) === true;
  const found = await book.find(skill);
  const skipped = (await book.skipped()).find(({ name }) => name === skill);
  const meant = nearest(skill, listing?.shown.map(({ name }) => name) ?? []);
  const reason = isLeftOut
    ? 'is left out of the list for want of room'
    : found !== undefined
      ? 'is not shown to the model (see portcullis skills list)'
      : skipped !== undefined
        ? `is not in force: ${skipped.reason}`
        : `does not exist${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  throw new PortcullisError(
    'usage',
    `${file}:${line}: the skill ${visible(skill)} ${visible(reason)}`,
    { remedy: 'correct the table or the skill' },
  );
}

const SKILL = 'Skill';

/** As few as leave the model another way than a skill. */
const TOOLS: readonly ToolDefinition[] = [
  { name: 'Bash', description: bashDescription.trim(), input_schema: TOOL_SCHEMAS.Bash },
  { name: 'Read', description: readDescription.trim(), input_schema: TOOL_SCHEMAS.Read },
  { name: SKILL, description: skillDescription.trim(), input_schema: TOOL_SCHEMAS.Skill },
];

/** Shows a model the listing and a prompt, as the first message of a session, and sees which skills it starts. */
async function chosenSkills(
  { client, choices }: Pick<ModelLayer, 'client' | 'choices'>,
  question: { readonly listing: SkillListing; readonly prompt: string },
  signal: AbortSignal,
): Promise<Result<readonly string[], string>> {
  const { listing, prompt } = question;
  const texts = listing.text === '' ? [prompt] : [reminder(listingMessage(listing)), prompt];
  const fold = new MessageAccumulator();
  const events = client.stream(
    {
      ...choices.current(),
      system: systemPrompt({}),
      tools: TOOLS,
      messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    },
    signal,
  );
  for await (const event of events) {
    if (event.type === 'failure') return err(event.failure.message);
    fold.push(event);
  }
  const names = fold.answer().content.flatMap((block) => {
    if (block.type !== 'tool_use' || block.name !== SKILL) return [];
    const { skill } = block.input;
    return typeof skill === 'string' ? [asName(skill)] : [];
  });
  return ok([...new Set(names)]);
}
