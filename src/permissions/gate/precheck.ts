import { messageOf } from '../../errors.js';
import { freezeJson } from '../../lib/frozen-json.js';
import { expandHome, homeDirectory, resolve } from '../../platform/fs/paths.js';
import type { TraceStep } from '../../protocol/permissions.js';
import type { Guard, Resolver } from './guard.js';
import type { GateCall, HookContext } from './types.js';
import type { CallView } from './view.js';

type Input = Readonly<Record<string, unknown>>;

/** The same call with another input, or why that input will not do. */
type Retarget = (input: Input) => Promise<CallView | { readonly invalid: string }>;

export interface Examination extends HookContext {
  /** The call with its final input: what the rules judge. */
  readonly view: CallView;
  /** What hooks found, as one more guard; absent when no hook was asked. */
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
  options: { readonly viewOf: (call: GateCall) => Promise<CallView>; readonly rewritten: boolean },
): Promise<Examination> {
  if (precheck === undefined) return { view, trace: [] };
  const retarget: Retarget = async (wanted) => {
    const call = await withInput(view.call, wanted);
    return 'invalid' in call ? call : await options.viewOf(call);
  };
  try {
    const { rewritten } = options;
    return await precheck(view, { retarget, rewritten });
  } catch (thrown) {
    return notExamined(view, thrown);
  }
}

/** The call with another input, judged like the first; or why that input will not do. */
export async function withInput(
  call: GateCall,
  wanted: Input,
): Promise<GateCall | { readonly invalid: string }> {
  const fixed = freezeJson(wanted);
  if (!fixed.ok) return { invalid: fixed.error };
  const input = fixed.value;
  const problems = await call.tool.validate(input);
  if (problems.length > 0) {
    return { invalid: problems.map((one) => `${one.path} ${one.message}`.trim()).join('; ') };
  }
  return fixedCall({ ...call, input, subject: call.tool.subject(input, call.workspace) });
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

/**
 * The call in the one form that is judged and that runs.
 * fail-closed: an input that its giver could still change is judged, and runs, as a copy.
 */
export function fixedCall(call: GateCall): GateCall {
  const given = frozen(call, call.input);
  const input = frozen(call, absoluteInput({ ...call, input: given }));
  if (input === call.input) return call;
  return { ...call, input, subject: call.tool.subject(input, call.workspace) };
}

function frozen({ tool }: GateCall, input: GateCall['input']): GateCall['input'] {
  const copy = freezeJson(input);
  if (!copy.ok) throw new Error(`the input of ${tool.name} is not plain: ${copy.error}`);
  return copy.value;
}

/** Where file tools say which file they mean. */
const PATH_FIELDS = ['file_path', 'notebook_path', 'path'] as const;

/**
 * The input of a file tool with absolute, normalised paths. Hooks, hosts and people compare paths with
 * their own; `../secret/x` and `/project/../secret/x` must not look like something else than `/secret/x`.
 */
export function absoluteInput({
  tool,
  input,
  workspace,
}: Pick<GateCall, 'tool' | 'input' | 'workspace'>): Input {
  if (tool.kind !== 'read' && tool.kind !== 'edit') return input;
  const changed: Record<string, string> = {};
  for (const field of PATH_FIELDS) {
    const path = Object.hasOwn(input, field) ? input[field] : undefined;
    if (typeof path !== 'string' || path === '') continue;
    const meant = path.startsWith('~') ? expandHome(path, homeDirectory()) : path;
    const absolute = resolve(workspace.cwd, meant);
    if (absolute !== path) changed[field] = absolute;
  }
  return Object.keys(changed).length === 0 ? input : { ...input, ...changed };
}
