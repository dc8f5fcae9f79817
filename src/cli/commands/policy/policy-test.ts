import { PortcullisError } from '../../../errors.js';
import { visible } from '../../../lib/text/visible.js';
import {
  findPolicyTables,
  POLICY_TEST_NAMES,
  type PolicyTestResult,
  readPolicyTables,
  runPolicyTests,
} from '../../../project/policy/policy-tests.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { skippedHooksText } from '../explain.js';
import { JSON_OPTION, printJson, SETTINGS_OPTION, withProject } from '../project-call.js';

const [NAME] = POLICY_TEST_NAMES;

export const test: CommandSpec = {
  summary: 'Run the policy tests that are kept beside the settings.',
  arguments: [{ name: '[files...]', description: `Default: .claude/${NAME} and the like.` }],
  options: [SETTINGS_OPTION, JSON_OPTION],
  notes: 'The project counts as trusted, as nothing is run.\ndocs/policy-tests.md shows a file.',
  run: (call) =>
    withProject(
      call,
      async (project) => {
        const tables =
          call.args.length > 0
            ? await readPolicyTables(project.places, call.args)
            : await findPolicyTables(project.places);
        if (tables.length === 0) {
          throw new PortcullisError('usage', 'there are no policy tests here', {
            remedy: `write .claude/${NAME} (docs/policy-tests.md shows one), or name a file`,
          });
        }
        const results = await runPolicyTests(project, tables, call.output.warn);
        if (call.options.json === true) printJson(call, results.map(resultData));
        else call.output.out(policyTestText(results));
        const failed = results.some(({ failure }) => failure !== undefined);
        return failed ? EXIT.error : EXIT.done;
      },
      { trust: 'given' },
    ),
};

/** The failed cases, and how many passed. */
export function policyTestText(results: readonly PolicyTestResult[]): string {
  const failed = results.flatMap(({ file, test, failure }) =>
    failure === undefined
      ? []
      : [`${file}:${test.line}: ${visible(test.text)}\n  ${visible(failure)}\n`],
  );
  const files = new Set(results.map(({ file }) => file)).size;
  const unasked = Math.max(0, ...results.map(({ decision }) => decision.unaskedHooks ?? 0));
  return [
    ...failed,
    skippedHooksText(unasked, 'these tests are about rules alone'),
    `${results.length - failed.length} passed, ${failed.length} failed `,
    `(${results.length} cases in ${files} ${files === 1 ? 'file' : 'files'})\n`,
  ].join('');
}

function resultData({ file, test, decision, failure }: PolicyTestResult): object {
  const { receipt: _, ...decided } = decision;
  const { line, text: call, expect } = test;
  return { file, line, call, expect, ...decided, passed: failure === undefined, failure };
}
