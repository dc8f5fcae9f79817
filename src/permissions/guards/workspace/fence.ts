import { type Finding, type Guard, NOTHING } from '../../gate/guard.js';
import type { CallView } from '../../gate/view.js';
import { mainCheckout } from '../../paths/working-trees.js';
import { type Fence, type FenceFiles, readProblem, writeProblem } from './places.js';
import { shellProblem } from './shell.js';

interface FenceDeps {
  readonly fs: FenceFiles;
  /** The repository's root, or where the session works: what agents with a tree of their own stay out of. */
  readonly projectDir: string;
  /** Directories of the project that trees have by link: looked at, never written. */
  shared?(): readonly string[];
}

/**
 * Keeps an agent with a workspace of its own in it. Files are judged by where they really are, shell
 * code by what can be read of it: what may write and is not surely inside is refused. No mode, rule
 * or setting switches it off. What a program does by its own code is not seen here.
 */
export function workspaceFence(deps: FenceDeps): Guard {
  return {
    name: 'workspace fence',
    // fail-closed: an agent whose fence cannot be drawn stays where it is.
    onFailure: 'deny',
    decide: async (view) => {
      const { workspace } = view.call.agent;
      return workspace === undefined ? NOTHING : decide(view, workspace, deps);
    },
  };
}

async function decide(view: CallView, workspace: string, deps: FenceDeps): Promise<Finding> {
  const fence = await fenceFor(view, workspace, deps);
  for (const { access, spellings } of await view.paths()) {
    const problem =
      access === 'write'
        ? writeProblem(fence, spellings)
        : readProblem(fence, spellings, { below: true });
    if (problem !== undefined) return refused(problem, spellings.literal);
  }
  const reading = await view.shell();
  if (reading === undefined) return NOTHING;
  const problem = await shellProblem(reading, { fence, view, fs: deps.fs });
  return problem === undefined ? NOTHING : refused(problem);
}

function refused(reason: string, blockedPath?: string): Finding {
  return { decision: 'deny', reason, source: 'workspace of the agent', blockedPath };
}

async function fenceFor(view: CallView, workspace: string, deps: FenceDeps): Promise<Fence> {
  const { agent } = view.call;
  const all = (paths: readonly string[]): Promise<readonly string[]> =>
    Promise.all(paths.map(async (path) => (await view.judge.spell(path)).real));
  const outer = mainCheckout(workspace);
  const hides = agent.isolation === 'worktree';
  const project = await all([deps.projectDir, ...(outer === undefined ? [] : [outer.main])]);
  return {
    workspace,
    writable: await all([workspace]),
    project,
    hidden: hides ? project : [],
    shared: hides ? await all(deps.shared?.() ?? []) : [],
    isolation: agent.isolation,
  };
}
