import type { NodeState, RewindItem, RewindPlan } from '../types.js';

/** What stands at a path and what is to stand there. Absent: nothing. */
export interface PathStep {
  readonly path: string;
  readonly from?: NodeState;
  readonly to?: NodeState;
}

/** One path that a rewind puts back. */
export interface Step extends PathStep {
  /** Changes that are taken back by it. */
  readonly undoes: readonly number[];
  /** For the preview. Absent: only needed for the others, such as a directory on the way. */
  readonly item?: RewindItem;
}

/** What a rewind would do. */
export interface Draft {
  readonly steps: readonly Step[];
  readonly conflicts: RewindPlan['conflicts'];
  readonly impossible: RewindPlan['impossible'];
}

export function stepOf(about: {
  readonly path: string;
  readonly from: NodeState | undefined;
  readonly to: NodeState | undefined;
  readonly undoes: readonly number[];
  readonly item?: RewindItem;
}): Step {
  return {
    path: about.path,
    undoes: about.undoes,
    from: about.from,
    to: about.to,
    item: about.item,
  };
}
