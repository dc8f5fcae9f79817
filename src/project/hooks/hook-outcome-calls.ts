import type { EventDeps } from '../../hooks/answers/round.js';
import type { AboutCall, FitsRule } from '../../hooks/dispatch/input.js';
import { createHookAsker } from '../../hooks/events/permission-request.js';
import { createPostToolHooks } from '../../hooks/events/post-tool-use.js';
import { createHookPrecheck } from '../../hooks/events/pre-tool-use.js';
import type { HookEventName, Occasion } from '../../hooks/registry/hook.js';
import { NOTHING } from '../../permissions/gate/guard.js';
import { examine } from '../../permissions/gate/precheck.js';
import type { GateCall } from '../../permissions/gate/types.js';
import { type CallView, viewOf } from '../../permissions/gate/view.js';
import { NO_RULES } from '../../permissions/rules/rules.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { textOf } from '../../protocol/content.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { ToolOutput } from '../../tools/tool.js';

/** What hooks are asked about, ready to be asked. */
export interface HookTestCase {
  readonly occasion: Occasion;
  readonly mode: PermissionMode;
  /** Of events about a tool call. */
  readonly call?: GateCall;
  /** Why a session would not have fired the event with this input. */
  readonly notes: readonly string[];
}

/** Says whether an `if` rule fits a call. */
export type FitsCall = (about: AboutCall<GateCall>) => FitsRule;

/** A case, and what the part of a session that fires the event needs besides. */
export interface HookTestContext extends HookTestCase, EventDeps {
  readonly event: HookEventName;
  readonly fs: FileSystem;
  readonly home: string;
  readonly projectDir: string;
  readonly fits: FitsCall;
}

/** What the answers of all hooks together lead to. */
export interface HookEffect {
  /** Why what was about to happen would not. */
  readonly refusal?: string | undefined;
  /** Replaces the sentence of the event's row. */
  readonly text?: string | undefined;
  /** What the model reads, word for word. */
  readonly model?: readonly string[];
  /** The input that replaces the call's own. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly permissions?: readonly unknown[] | undefined;
}

const ENDS = ' The turn would end.';

/** PreToolUse: what the hooks decide before any rule is consulted. */
export async function askBeforeTool(context: HookTestContext): Promise<HookEffect> {
  const { mode, dispatch, fs, home, fits } = context;
  const call = callOf(context);
  const see = async (one: GateCall): Promise<CallView> =>
    viewOf(one, { fs, home, mode, rules: NO_RULES });
  const precheck = createHookPrecheck(dispatch, { ifRule: (view) => fits({ ...view, mode }) });
  const found = await examine(precheck, await see(call), { viewOf: see, rewritten: false });
  const { view, contexts = [], agentContext } = found;
  const { decision, reason = '', stop } = (await found.guard?.decide(view)) ?? NOTHING;
  const effect = {
    model: [...contexts, agentContext ?? []].flat(),
    input: view.call.input === call.input ? undefined : view.call.input,
  };
  if (decision === 'deny') {
    return { ...effect, refusal: `${reason}${stop === undefined ? '' : ENDS}` };
  }
  if (decision === 'defer') return { ...effect, text: `would be deferred: ${reason}` };
  if (decision === 'ask') return { ...effect, text: `the user would be asked: ${reason}` };
  const opinion = await found.resolver?.decide(view);
  const text =
    opinion?.decision === 'allow'
      ? `would be allowed where no rule refuses it: ${opinion.reason}`
      : (opinion?.reason ?? 'no hook objects; rules and mode decide');
  return { ...effect, text };
}

/** PermissionRequest: what hooks answer in place of a person. */
export async function askPermission(context: HookTestContext): Promise<HookEffect> {
  const { mode, dispatch } = context;
  const call = callOf(context);
  const asker = createHookAsker(dispatch, { ifRule: context.fits })(call, undefined);
  const answer = await asker?.({ call, mode, trace: [], reason: 'hooks are being tested' });
  if (answer === undefined || (answer.behavior === 'deny' && answer.unanswered === true)) return {};
  if (answer.behavior === 'deny') {
    const ends = answer.interrupt === true || answer.stop !== undefined;
    return { refusal: `${answer.message}${ends ? ENDS : ''}` };
  }
  const { updatedInput: input, updatedPermissions: permissions } = answer;
  const more = (permissions?.length ?? 0) === 0 ? '' : ', with changes to the permissions';
  return { text: `would be allowed without a question${more}`, input, permissions };
}

/** PostToolUse and PostToolUseFailure: what the model reads of a call that has run. */
export async function askAfterTool(context: HookTestContext): Promise<HookEffect> {
  const { mode, dispatch, event, occasion, fits } = context;
  const { fields, signal } = occasion;
  const failed = event === 'PostToolUseFailure';
  const call = callOf(context);
  const output = { ...outputOf(failed ? fields.error : fields.tool_response), isError: failed };
  const after = await createPostToolHooks(dispatch).after({
    call,
    mode,
    output,
    ms: 0,
    signal,
    fits: fits({ call, mode }),
  });
  const replaced = after.output !== output;
  const withheld = after.output.isError === true && !failed;
  const what = withheld
    ? 'the output would be withheld'
    : `the model would read ${replaced ? 'another output' : 'the output as it is'}`;
  return {
    refusal: withheld ? what : undefined,
    text: after.stop === undefined ? what : `${what}, and the turn would end: ${after.stop}`,
    model: [...(replaced ? [textOf(after.output.content)] : []), ...after.contexts],
  };
}

function outputOf(response: unknown): ToolOutput {
  if (typeof response === 'string') return { content: response };
  const content = JSON.stringify(response) ?? '';
  return typeof response === 'object' && response !== null
    ? { content, structured: response }
    : { content };
}

function callOf({ call, event }: HookTestContext): GateCall {
  if (call === undefined) throw new Error(`${event} is about a tool call`);
  return call;
}
