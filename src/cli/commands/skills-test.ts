import { visible } from '../../lib/text/visible.js';
import { resolve } from '../../platform/fs/paths.js';
import { openProject } from '../../project/project.js';
import { hasPassed, type SkillScore, skippedIn, type Trial } from '../../project/skills-score.js';
import type { SkillTestResult } from '../../project/skills-test.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import {
  inspectProject,
  JSON_OPTION,
  numberOption,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  textOption,
} from './project-call.js';
import { placeText } from './validation.js';

export const test: CommandSpec = {
  summary: 'Ask a model which skill it starts for each prompt of a table.',
  arguments: [{ name: '<file>', description: 'YAML or JSON: a list of {prompt, skill, touch?}.' }],
  options: [
    { flags: '--model <model>', description: 'The model to ask.' },
    { flags: '--runs <number>', description: 'Ask each prompt this often.', default: '1' },
    {
      flags: '--min-recall <ratio>',
      description: 'Pass from this recall on, 0 to 1, instead of on no mistake.',
    },
    {
      flags: '--min-precision <ratio>',
      description: 'Pass from this precision on, 0 to 1, instead of on no mistake.',
    },
    TRUST_OPTION,
    SETTINGS_OPTION,
    JSON_OPTION,
  ],
  notes: 'No tool is run. The skill "none" means that the model should start none.',
  run: (call) =>
    inspectProject(call, async (project) => {
      const { options, output } = call;
      const file = resolve(project.cwd, call.args[0] ?? '');
      const runs = numberOption(options, 'runs', { min: 1, max: 100, whole: true }) ?? 1;
      const limits = {
        recall: numberOption(options, 'minRecall', { min: 0, max: 1 }),
        precision: numberOption(options, 'minPrecision', { min: 0, max: 1 }),
      };
      const { testSkills } = await import('../../project/skills-test.js');
      const abort = new AbortController();
      const stop = (): void => abort.abort();
      process.once('SIGINT', stop);
      try {
        const model = textOption(options, 'model');
        const { signal } = abort;
        const reopen = () =>
          openProject(project.cwd, {
            settings: textOption(options, 'settings'),
            trust: options.trust === true ? 'given' : 'as it is',
          });
        const result = await testSkills(project, { file, model, runs, signal, reopen });
        const good = isGood(result, limits);
        if (options.json === true) printJson(call, resultData(result, good));
        else output.out(resultText(result, file));
        return good ? EXIT.done : EXIT.error;
      } finally {
        process.removeListener('SIGINT', stop);
      }
    }),
};

/** fail-closed: a trial without an answer has failed, whatever the limits say. */
function isGood(
  { score, trials }: SkillTestResult,
  { recall, precision }: Partial<Record<'recall' | 'precision', number | undefined>>,
): boolean {
  if (trials.some(({ failure }) => failure !== undefined)) return false;
  if (recall === undefined && precision === undefined) return score.passed === score.trials;
  return score.recall >= (recall ?? 0) && score.precision >= (precision ?? 0);
}

function resultData({ model, score, trials }: SkillTestResult, good: boolean): unknown {
  return {
    good,
    model,
    ...score,
    cases: trials.map((trial) => ({
      line: trial.test.line,
      prompt: trial.test.prompt,
      expected: trial.test.skill ?? null,
      chosen: trial.chosen,
      skipped: skippedIn(trial) ?? null,
      passed: hasPassed(trial),
      failure: trial.failure,
    })),
    cut: [...new Set(trials.flatMap(({ listing }) => listing.cut.map(({ name }) => name)))],
  };
}

function resultText({ trials, score, model }: SkillTestResult, file: string): string {
  const failed = trials
    .filter((trial) => !hasPassed(trial))
    .map((trial) => failureText(trial, file));
  const notes = [...new Set(trials.flatMap(({ listing }) => listing.note ?? []))];
  return [
    ...failed,
    ...(failed.length === 0 ? [] : ['\n']),
    `${score.passed} of ${score.trials} as expected with ${visible(model)}; recall ${percent(score.recall)}, precision ${percent(score.precision)}\n`,
    ...score.ledger.map(rowText),
    ...notes.map((note) => `Note: ${visible(note)}\n`),
  ].join('');
}

function failureText(trial: Trial, file: string): string {
  const { test: tested, chosen, failure } = trial;
  const got = failure ?? (chosen.length === 0 ? 'none' : chosen.join(', '));
  const skipped = skippedIn(trial);
  const missed = skipped === undefined ? '' : `, skipped ${visible(skipped)}`;
  return `${placeText(file, tested.line)}: ${visible(tested.prompt)}\n  expected ${tested.skill ?? 'none'}, chosen ${visible(got)}${missed}\n`;
}

function rowText(row: SkillScore['ledger'][number]): string {
  const { skill, offered, expected, chosen, skipped, wrong } = row;
  return `  ${visible(skill)}: offered ${offered}, expected ${expected}, chosen ${chosen}, skipped ${skipped}, wrongly ${wrong}\n`;
}

function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}
