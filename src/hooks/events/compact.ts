import { blockedBy, stopOf, textIn, textsIn } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookDispatch } from '../registry/hook.js';

type ModelessScene = Omit<Scene, 'mode'>;
type CompactTrigger = HookFields<'PreCompact'>['trigger'];

interface CompactionAdvice {
  /** Why there must be no summary, and which hook says so. */
  readonly blocked?: string;
  /** Joins the instructions for the summary. */
  readonly instructions: readonly string[];
  /** Goes into the new history word for word. */
  readonly preserve: readonly string[];
}

/** PreCompact. Its failure lets the summary be made, unless its author said otherwise. */
export async function beforeCompact(
  dispatch: HookDispatch,
  ahead: ModelessScene & {
    readonly trigger: CompactTrigger;
    /** What the person wants kept in mind. */
    readonly customInstructions: string | undefined;
  },
): Promise<CompactionAdvice> {
  const { trigger, customInstructions } = ahead;
  const fields = { trigger, custom_instructions: customInstructions ?? null };
  const round = await ask(dispatch, 'PreCompact', { scene: ahead, fields, matched: [trigger] });
  const objections = blockedBy(round).map(({ by, reason, failed }) =>
    failed ? reason : `${reason} (${by})`,
  );
  const blocked = objections.join('\n') || stopOf(round);
  if (blocked !== undefined) return { blocked, instructions: [], preserve: [] };
  const answers = round.reports.map(({ answer }) => answer);
  return {
    instructions: answers
      .flatMap(({ text = '', context = '' }) => [text, context])
      .filter((one) => one.trim() !== ''),
    preserve: answers.flatMap(({ fields }) => {
      const text = textIn(fields, 'preserve');
      return text === undefined ? (textsIn(fields, 'preserve') ?? []) : [text];
    }),
  };
}

/** PostCompact. */
export async function afterCompact(
  dispatch: HookDispatch,
  done: ModelessScene & { readonly trigger: CompactTrigger; readonly summary: string },
): Promise<void> {
  const { trigger, summary } = done;
  const fields = { trigger, compact_summary: summary };
  await ask(dispatch, 'PostCompact', { scene: done, fields, matched: [trigger] });
}
