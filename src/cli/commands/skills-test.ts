import { type ModelLayer, openModelLayer } from '../../agents/model-layer.js';
import { systemClock } from '../../env/clock.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { displayPath, resolve } from '../../env/paths.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { type SkillListing, skillListing } from '../../skills/listing.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';
import { VERSION } from '../../version.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { type CommandArguments, readArguments } from './arguments.js';
import { type SkillsHere, skillsHere } from './skills-here.js';
import { isPassed, type SkillScore, scoreOf, skippedIn, type Trial } from './skills-score.js';
import { readSkillTests, type SkillTest } from './skills-test-file.js';
import { chosenSkills } from './skills-trial.js';
import type { StartHereOptions } from './start-here.js';

export const USAGE =
  'portcullis skills test <file> [--model M] [--runs N] [--min-recall R] [--min-precision P] [--trust] [--settings F] [--json]';

interface Wishes {
  readonly file: string;
  readonly json: boolean;
  readonly trust: boolean;
  readonly settings: string | undefined;
  readonly model: string | undefined;
  readonly runs: number;
  /** The least that is good enough; absent: every trial has to pass. */
  readonly recall: number | undefined;
  readonly precision: number | undefined;
}

/**
 * Shows a model the listing of the skills here with each prompt of a table, and sees which skill it
 * starts. No tool is run. `none` is an expectation like every other.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const wishes = { ...wishesFrom(argv), warn: output.warn };
  const tests = await readTable(wishes.file);
  const here = await skillsHere(wishes);
  try {
    const layer = await modelOf(wishes, here);
    const listings = await listingsOf(tests, wishes, { here, layer });
    const trials = await play(tests, wishes, { layer, listings });
    const score = scoreOf(trials);
    const good = isGood(score, trials, wishes);
    const model = layer.choices.current().model;
    if (wishes.json)
      output.out(`${JSON.stringify(asData(trials, score, { good, model }), null, 2)}\n`);
    else output.out(reportText(trials, score, { file: wishes.file, model }));
    return good ? EXIT.done : EXIT.error;
  } finally {
    here.close();
  }
}

function wishesFrom(argv: readonly string[]): Wishes {
  const read = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['model', 'runs', 'min-recall', 'min-precision', 'settings'],
  });
  const [file, ...more] = read.words;
  if (file === undefined || more.length > 0) throw wrong('name one file with tests');
  return {
    file: resolve(process.cwd(), file),
    json: read.switches.has('json'),
    trust: read.switches.has('trust'),
    settings: read.values.get('settings'),
    model: read.values.get('model'),
    runs: numberFrom(read, 'runs', { least: 1, most: 100 }) ?? 1,
    recall: numberFrom(read, 'min-recall', { least: 0, most: 1 }),
    precision: numberFrom(read, 'min-precision', { least: 0, most: 1 }),
  };
}

function numberFrom(
  { values }: CommandArguments,
  name: string,
  { least, most }: { least: number; most: number },
): number | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  const isWhole = most === 1 || Number.isInteger(number);
  if (text.trim() !== '' && isWhole && number >= least && number <= most) return number;
  throw wrong(`--${name} wants a number from ${least} to ${most}`);
}

function wrong(message: string): PortcullisError {
  return new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
}

async function readTable(file: string): Promise<readonly SkillTest[]> {
  let text: string;
  try {
    text = await nodeFileSystem.readText(file, { maxBytes: 4 * 1024 * 1024 });
  } catch (thrown) {
    throw wrong(`the tests cannot be read: ${messageOf(thrown)}`);
  }
  const tests = readSkillTests(text);
  if (tests.ok) return tests.value;
  // fail-closed: a table that is read in part would pass without having tested the rest.
  throw new PortcullisError('usage', `${file}:${tests.error}`, {
    remedy: 'a table is a list of {prompt, skill, touch?}; skill is a name or none',
  });
}

async function modelOf(wishes: Wishes, { cwd, settings }: SkillsHere): Promise<ModelLayer> {
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const env = { ...process.env, ...Object.fromEntries(fromSettings) } as typeof process.env;
  const config = {
    cwd,
    env,
    entrypoint: 'portcullis-skills-test',
    ...(wishes.model === undefined ? {} : { model: wishes.model }),
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: false,
    trust: wishes.trust,
    emit: () => undefined,
  } as const;
  return await openModelLayer(config, {
    env,
    clock: systemClock,
    version: VERSION,
    fromSettings: settings.model?.value,
    readText: (file) => nodeFileSystem.readText(file),
  });
}

type Listings = ReadonlyMap<string | undefined, SkillListing>;

/** What the model would be shown, for each file that a test touches. */
async function listingsOf(
  tests: readonly SkillTest[],
  wishes: StartHereOptions & Wishes,
  { here, layer }: { here: SkillsHere; layer: ModelLayer },
): Promise<Listings> {
  const windowTokens = layer.choices.limits().contextWindow;
  const listings = new Map<string | undefined, SkillListing>();
  for (const touch of new Set(tests.map((test) => test.touch))) {
    const place = touch === undefined ? here : await skillsHere(wishes);
    try {
      const { book, listing } = place;
      if (touch !== undefined) await book.touched([touch]);
      const options = { ...listing, windowTokens, isDormant: book.isDormant };
      listings.set(touch, skillListing(await book.all(), options));
    } finally {
      if (place !== here) place.close();
    }
  }
  for (const test of tests) await refuseUnknown(test, listings, { here, file: wishes.file });
  return listings;
}

/** fail-closed: a model is not to blame for a skill that it cannot start, nor is it asked about one. */
async function refuseUnknown(
  { skill, line, touch }: SkillTest,
  listings: Listings,
  { here, file }: { here: SkillsHere; file: string },
): Promise<void> {
  const listing = listings.get(touch);
  if (skill === undefined || listing?.shown.some(({ name }) => name === skill) === true) return;
  const isLeftOut = listing?.cut.some(({ name }) => name === skill) === true;
  const found = await here.book.find(skill);
  const skipped = (await here.book.skipped()).find(({ name }) => name === skill);
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
    {
      remedy: 'correct the table or the skill',
    },
  );
}

async function play(
  tests: readonly SkillTest[],
  { runs }: Wishes,
  { layer, listings }: { layer: ModelLayer; listings: Listings },
): Promise<readonly Trial[]> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  process.once('SIGINT', stop);
  const trials: Trial[] = [];
  try {
    for (const test of tests) {
      const listing = listings.get(test.touch) ?? { text: '', shown: [], cut: [], hidden: [] };
      for (let run = 0; run < runs; run++) {
        const { prompt } = test;
        const chosen = await chosenSkills(layer, { listing, prompt }, abort.signal);
        if (abort.signal.aborted) throw new PortcullisError('aborted', 'interrupted');
        trials.push(
          chosen.ok
            ? { test, listing, chosen: chosen.value }
            : { test, listing, chosen: [], failure: chosen.error },
        );
      }
    }
  } finally {
    process.removeListener('SIGINT', stop);
  }
  return trials;
}

/** fail-closed: a trial without an answer has not been passed, whatever the limits say. */
function isGood(score: SkillScore, trials: readonly Trial[], wishes: Wishes): boolean {
  if (trials.some(({ failure }) => failure !== undefined)) return false;
  const { recall, precision } = wishes;
  if (recall === undefined && precision === undefined) return score.passed === score.trials;
  return score.recall >= (recall ?? 0) && score.precision >= (precision ?? 0);
}

function asData(
  trials: readonly Trial[],
  score: SkillScore,
  facts: { readonly good: boolean; readonly model: string },
): unknown {
  return {
    ...facts,
    ...score,
    cases: trials.map((trial) => ({
      line: trial.test.line,
      prompt: trial.test.prompt,
      expected: trial.test.skill ?? null,
      chosen: trial.chosen,
      skipped: skippedIn(trial) ?? null,
      passed: isPassed(trial),
      ...(trial.failure === undefined ? {} : { failure: trial.failure }),
    })),
    cut: [...new Set(trials.flatMap(({ listing }) => listing.cut.map(({ name }) => name)))],
  };
}

function reportText(
  trials: readonly Trial[],
  score: SkillScore,
  { file, model }: { readonly file: string; readonly model: string },
): string {
  const failed = trials
    .filter((trial) => !isPassed(trial))
    .map((trial) => {
      const { test, chosen, failure } = trial;
      const place = `${visible(displayPath(file, process.cwd()))}:${test.line}`;
      const got = failure ?? (chosen.length === 0 ? 'none' : chosen.join(', '));
      const skipped = skippedIn(trial);
      const missed = skipped === undefined ? '' : `, skipped ${visible(skipped)}`;
      return `${place}: ${visible(test.prompt)}\n  expected ${test.skill ?? 'none'}, chosen ${visible(got)}${missed}\n`;
    });
  const percent = (value: number): string => `${Math.round(value * 100)} %`;
  const rows = score.ledger.map(
    ({ skill, offered, expected, chosen, skipped, wrong: mistaken }) =>
      `  ${visible(skill)}: offered ${offered}, expected ${expected}, chosen ${chosen}, skipped ${skipped}, wrongly ${mistaken}\n`,
  );
  const notes = [...new Set(trials.flatMap(({ listing }) => listing.note ?? []))];
  return [
    ...failed,
    ...(failed.length === 0 ? [] : ['\n']),
    `${score.passed} of ${score.trials} as expected with ${visible(model)}; recall ${percent(score.recall)}, precision ${percent(score.precision)}\n`,
    ...rows,
    ...notes.map((note) => `Note: ${visible(note)}\n`),
  ].join('');
}
