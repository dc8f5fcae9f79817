import { messageOf } from '../../errors.js';
import { fileNameFor } from '../../lib/file-name.js';
import { head } from '../../lib/text/truncate.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool } from '../tool.js';
import enterDescription from './enter-plan-mode.md';
import exitDescription from './exit-plan-mode.md';

const MAX_PLAN_CHARS = 50_000;

export interface PlanModeDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic'>;
  /** `<config>/plans`. */
  readonly plansDirectory: string;
}

export function enterPlanModeTool(): Tool<ToolInputs['EnterPlanMode']> {
  return defineTool({
    name: 'EnterPlanMode',
    offered: 'with-person',
    kind: 'control',
    description: enterDescription,
    subject: () => ({ paths: [], summary: 'Enter plan mode' }),
    async run(_input, context) {
      if (context.mode === 'plan') {
        return failure(
          'Plan mode is on already. Present the plan with ExitPlanMode when it is done.',
        );
      }
      context.setMode('plan');
      const message =
        'Plan mode is on: explore and read, change nothing. When the plan is complete, present it with ExitPlanMode; work begins after approval.';
      return { content: message, structured: { message } };
    },
  });
}

/** The gate puts the plan to a person; `run` is reached by approval alone. */
export function exitPlanModeTool(deps: PlanModeDeps): Tool<ToolInputs['ExitPlanMode']> {
  return defineTool({
    name: 'ExitPlanMode',
    kind: 'control',
    needsPerson: true,
    description: exitDescription,
    subject: (input) => ({
      paths: [],
      summary: `Plan: ${head((input.plan ?? '').trim().split('\n')[0] ?? '', 200)}`,
    }),
    async run(input, context, permit) {
      // The receipt has the mode in which the call was judged; the person who approved it may have changed the mode since.
      if (permit.receipt.mode !== 'plan') {
        return failure('Plan mode is not on, so there is nothing to leave. Go on with the work.');
      }
      const filePath = join(deps.plansDirectory, `${fileNameFor(context.sessionId)}.md`);
      const plan = input.plan?.trim() || (await storedPlan(deps, filePath));
      if (plan === undefined || plan === '') {
        return failure('There is no plan. Call ExitPlanMode again with the whole plan in `plan`.');
      }
      const notSaved = await storePlan(deps, filePath, plan);
      if (context.mode === 'plan') context.setMode('default');
      const where = notSaved ?? `It is kept in ${filePath}.`;
      const structured = {
        plan,
        isAgent: context.agent.depth > 0,
        ...(notSaved === undefined ? { filePath } : {}),
      };
      return {
        content: `The plan was approved; you can make changes now. ${where}\n\nApproved plan:\n${head(plan, MAX_PLAN_CHARS)}`,
        structured,
      };
    },
  });
}

async function storedPlan(deps: PlanModeDeps, filePath: string): Promise<string | undefined> {
  try {
    if ((await deps.fs.stat(filePath)) === undefined) return undefined;
    return (await deps.fs.readText(filePath)).trim();
  } catch {
    // Unreadable is as good as absent: the model is asked to pass the plan itself.
    return undefined;
  }
}

/** Why the plan could not be kept; approval does not depend on it. */
async function storePlan(
  deps: PlanModeDeps,
  filePath: string,
  plan: string,
): Promise<string | undefined> {
  try {
    await deps.fs.writeAtomic(filePath, `${plan}\n`, { mode: 0o600 });
    return undefined;
  } catch (thrown) {
    return `(It could not be kept in ${filePath}: ${messageOf(thrown)})`;
  }
}
