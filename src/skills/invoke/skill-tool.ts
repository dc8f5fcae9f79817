import { sliceWhole } from '../../lib/text/truncate.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import { asName } from '../discovery/names.js';
import { SKILL_TOOL, type SkillApprovals } from '../grants/approval.js';
import type { ReadySkill, SkillInvoker } from './invoke.js';
import description from './skill-tool.md';

export interface SkillToolDeps {
  readonly invoker: SkillInvoker;
  readonly approvals: Pick<SkillApprovals, 'take'>;
  /** Applies what goes beyond rules: effort, hooks. A throw undoes the skill. */
  onReady?(ready: ReadySkill, context: ToolContext): void | Promise<void>;
}

type SkillInput = ToolInputs['Skill'];

export function skillTool(deps: SkillToolDeps): Tool<SkillInput> {
  return defineTool({
    name: SKILL_TOOL,
    // Not `control`, which runs unasked in every mode: a skill may bring grants, hooks and commands.
    kind: 'execute',
    description,
    async check({ skill }) {
      const found = await deps.invoker.check(skill, 'model');
      return found.ok ? [] : [{ path: '', message: found.error }];
    },
    /** Rules, hooks and people see the stored form of the name. */
    fromModel: (input) =>
      typeof input.skill === 'string' ? { ...input, skill: asName(input.skill) } : input,
    subject: ({ skill, args = '' }) => ({
      paths: [],
      summary: sliceWhole(`skill ${skill} ${args}`.trim(), 0, 80),
    }),
    run: (input, context) => run(deps, input, context),
  });
}

async function run(
  deps: SkillToolDeps,
  { skill, args }: SkillInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const approved = deps.approvals.take(context.toolUseId);
  // fail-closed: it is unknown which content was approved.
  if (approved === undefined) {
    return failure('The skill was not started: its content was not judged with the call.');
  }
  const { agent, signal } = context;
  const by = 'model' as const;
  const outcome = await deps.invoker.invoke({ name: skill, args, by, agent, signal, approved });
  switch (outcome.kind) {
    case 'refused':
      return failure(outcome.reason);
    case 'forked': {
      const { toolText, isError } = outcome;
      const structured = { success: !isError, commandName: skill, status: 'forked' };
      return { content: toolText, structured, ...(isError ? { isError } : {}) };
    }
    case 'ready':
      await begin(deps, outcome, context);
      return {
        content: outcome.toolText,
        structured: { success: true, commandName: outcome.skill.name },
        followUp: [{ text: outcome.message }],
      };
  }
}

async function begin(deps: SkillToolDeps, ready: ReadySkill, context: ToolContext): Promise<void> {
  try {
    await deps.onReady?.(ready, context);
  } catch (thrown) {
    // fail-closed: a skill that could not be applied completely is undone.
    ready.withdraw();
    throw thrown;
  }
}

function failure(content: string): ToolOutput {
  return { content, isError: true, structured: `Error: ${content}` };
}
