import { visible, visibleText } from '../../lib/text/visible.js';
import { displayPath, isInside } from '../../platform/fs/paths.js';
import { type InitPlan, planInit, writePlan } from '../../project/init/plan.js';
import { findPolicyTables, runPolicyTests } from '../../project/policy/policy-tests.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { confirmed, refuseAgent } from './person.js';
import { policyTestText } from './policy/policy-test.js';
import { withProject } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Write a first AGENTS.md and a tested policy for this project.',
  options: [
    { flags: '-y, --yes', description: 'Write without asking.' },
    { flags: '--dry-run', description: 'Show what would be written, and write nothing.' },
  ],
  notes: `Reads package.json, Makefile, pyproject.toml, Cargo.toml, go.mod and the like.
Existing files are kept; settings only get rules that they lack. Asks no model.
In a conversation, /init lets the model write the instructions instead.`,
  run: (call) =>
    withProject(
      call,
      async (project) => {
        const plan = await planInit(project);
        call.output.out(planText(plan, project.cwd));
        if (plan.files.length === 0 || call.options.dryRun === true) return EXIT.done;
        // fail-closed: an agent must not write the rules that it is held to.
        refuseAgent('portcullis init');
        const isYes = await confirmed(call, 'Write these files?', {
          refused: 'nothing was written',
          remedy: 'read the list above, then write it with: portcullis init --yes',
        });
        if (!isYes) {
          call.output.out('Nothing was written.\n');
          return EXIT.error;
        }
        await writePlan(project.places, plan);
        call.output.out('Written.\n');
        return await testWritten(call, plan);
      },
      { trustNotice: 'silent' },
    ),
};

/** Runs the policy tests as they are on the disk now, and says what to do next. */
function testWritten(call: CommandCall, { files, rules }: InitPlan): Promise<number> {
  return withProject(
    call,
    async (project) => {
      const tables = await findPolicyTables(project.places);
      const own = tables.filter(({ file }) => isInside(file, project.cwd));
      const results = await runPolicyTests(project, own, call.output.warn);
      if (own.length > 0) call.output.out(`Policy tests: ${policyTestText(results)}`);
      const isNew = files.some(({ file }) => file.endsWith('AGENTS.md'));
      if (isNew) call.output.out('Add to AGENTS.md what you would tell a new colleague.\n');
      const grants = rules.some(({ list }) => list === 'allow');
      call.output.out(`\nNext:\n${grants ? TRUST_STEP : ''}${NEXT_STEPS}`);
      const failed = results.some(({ failure }) => failure !== undefined);
      return failed ? EXIT.error : EXIT.done;
    },
    { trust: 'given', trustNotice: 'silent' },
  );
}

const TRUST_STEP = `  portcullis trust         review and approve the allow rules of this folder
`;
const NEXT_STEPS = `  portcullis doctor        check everything else
  portcullis "your task"   start a conversation
`;

function planText({ repository, files, rules, kept }: InitPlan, cwd: string): string {
  const { languages, packageManagers, commands } = repository;
  const facts = [
    [...languages, ...packageManagers].join(', ') || 'no known language',
    ...commands.map(({ command: one, purpose, file }) => `${purpose}: ${one} (${file})`),
  ];
  const blocks = files.map(({ file, before, text }) => {
    const name = displayPath(file, cwd);
    if (before !== undefined) {
      const added = rules.map(({ list, rule }) => `  + ${list} ${rule}\n`);
      return `Add to ${name}\n${added.join('')}`;
    }
    const lines = text.trimEnd().split('\n');
    return `Create ${name}\n${lines.map((line) => `  + ${line}\n`).join('')}`;
  });
  return [
    `Found in ${visible(cwd)}\n${facts.map((fact) => `  ${visible(fact)}\n`).join('')}`,
    ...blocks.map(visibleText),
    ...(kept.length === 0 ? [] : [`Kept\n${kept.map((one) => `  ${visible(one)}\n`).join('')}`]),
    files.length === 0 ? 'There is nothing to write.\n' : '',
  ]
    .filter((block) => block !== '')
    .join('\n');
}
