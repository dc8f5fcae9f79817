import { own } from '../../lib/own.js';
import { blockedBy, isBlank, stopOf } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookDispatch, HookRound } from '../registry/hook.js';

type CompactTrigger = HookFields<'PreCompact'>['trigger'];

export interface CompactionAhead extends Omit<Scene, 'mode'> {
  readonly trigger: CompactTrigger;
  /** What the person wants kept in mind. */
  readonly customInstructions: string | undefined;
}

export interface CompactionDone extends Omit<Scene, 'mode'> {
  readonly trigger: CompactTrigger;
  readonly summary: string;
}

export interface CompactionWishes {
  /** There is to be no summary, why, and who says so. */
  readonly blocked?: string;
  /** Joins the instructions for the summary. */
  readonly instructions: readonly string[];
  /** Goes into the new history word for word. */
  readonly preserve: readonly string[];
}

const NO_WISHES: CompactionWishes = Object.freeze({
  instructions: Object.freeze([]) as readonly [],
  preserve: Object.freeze([]) as readonly [],
});

/** PreCompact. Its failure lets the summary be made, unless its author said otherwise. */
export async function beforeCompact(
  dispatch: HookDispatch,
  ahead: CompactionAhead,
): Promise<CompactionWishes> {
  const { trigger, customInstructions } = ahead;
  const fields = { trigger, custom_instructions: customInstructions ?? null };
  const round = await ask(dispatch, 'PreCompact', { scene: ahead, fields, matched: [trigger] });
  const blocked = blockOf(round);
  return blocked === undefined ? wishesOf(round) : { ...NO_WISHES, blocked };
}

/** PostCompact. */
export async function afterCompact(dispatch: HookDispatch, done: CompactionDone): Promise<void> {
  const { trigger, summary } = done;
  const fields = { trigger, compact_summary: summary };
  await ask(dispatch, 'PostCompact', { scene: done, fields, matched: [trigger] });
}

function blockOf(round: HookRound): string | undefined {
  const objections = blockedBy(round).map(({ by, reason, failed }) =>
    failed === true ? reason : `${reason} (${by})`,
  );
  return objections.length === 0 ? stopOf(round) : objections.join('\n');
}

function wishesOf(round: HookRound): CompactionWishes {
  const answers = round.reports.map(({ answer }) => answer);
  return {
    instructions: answers.flatMap(({ text, context }) =>
      [text, context].filter((one): one is string => !isBlank(one)),
    ),
    preserve: answers.flatMap(({ fields }) => textsIn(own(fields, 'preserve'))),
  };
}

/** One text or a list of them, as written. */
function textsIn(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one): one is string => typeof one === 'string' && one.trim() !== '');
}
