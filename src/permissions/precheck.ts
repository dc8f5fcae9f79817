import { messageOf } from '../errors.js';
import { freezeJson } from '../lib/frozen-json.js';
import type { TraceStep } from '../protocol/permissions.js';
import { fixedCall } from './fixed-call.js';
import type { Guard, Resolver } from './guard.js';
import type { GateCall, HookContext } from './types.js';
import type { CallView } from './view.js';

type Input = Readonly<Record<string, unknown>>;

/** The same call with another input, or why that input will not do. */
export type Retarget = (input: Input) => Promise<CallView | { readonly invalid: string }>;

export interface Examination extends HookContext {
  /** The call with its final input: what the rules judge. */
  readonly view: CallView;
  /** What was found, as one more guard; absent when nobody was asked. */
  readonly guard?: Guard;
  /** A yes, as one more resolver: it opens what no guard holds. */
  readonly resolver?: Resolver;
  /** The view's input holds the answer that the tool wants of a person. */
  readonly answered?: boolean;
  /** What each one said. */
  readonly trace: readonly TraceStep[];
}

/** Looks at a call before the rules do, and may give it another input: hooks. */
export type Precheck = (
  view: CallView,
  options: {
    readonly retarget: Retarget;
    /** The input has been rewritten already, so that another rewrite refuses. */
    readonly rewritten: boolean;
  },
) => Promise<Examination>;

/** A precheck that fails holds the call back. */
export async function examine(
  precheck: Precheck | undefined,
  view: CallView,
  options: { readonly viewOf: (call: GateCall) => CallView; readonly rewritten: boolean },
): Promise<Examination> {
  if (precheck === undefined) return { view, trace: [] };
  const { call } = view;
  const retarget: Retarget = async (wanted) => {
    const fixed = freezeJson(wanted);
    if (!fixed.ok) return { invalid: fixed.error };
    const input = fixed.value;
    const problems = await call.tool.validate(input);
    if (problems.length > 0) {
      return { invalid: problems.map((one) => `${one.path} ${one.message}`.trim()).join('; ') };
    }
    const subject = call.tool.subject(input, call.workspace);
    return options.viewOf(fixedCall({ ...call, input, subject }));
  };
  try {
    const { rewritten } = options;
    return await precheck(view, { retarget, rewritten });
  } catch (thrown) {
    return notExamined(view, thrown);
  }
}

/** fail-closed: what was to be asked first could not be asked. */
function notExamined(view: CallView, thrown: unknown): Examination {
  const guard: Guard = {
    name: 'hooks',
    onFailure: 'deny',
    decide: async () => Promise.reject(new Error(messageOf(thrown))),
  };
  return { view, trace: [], guard };
}
