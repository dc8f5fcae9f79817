import { createHookAsker } from '../../hooks/permission-request.js';
import { createPostToolHooks } from '../../hooks/post-tool-use.js';
import { createHookPrecheck } from '../../hooks/pre-tool-use.js';
import { NOTHING } from '../../permissions/guard.js';
import { examine } from '../../permissions/precheck.js';
import { NO_RULES } from '../../permissions/rules.js';
import type { AskAnswer, GateCall } from '../../permissions/types.js';
import { type CallView, viewOf } from '../../permissions/view.js';
import { textOf } from '../../protocol/content.js';
import type { ToolOutput } from '../../tools/tool.js';
import { isRecord } from '../../util/own.js';
import { nothingHeld, type Outcome, type Stage } from './hooks-stage.js';

type CallStage = Stage & { readonly call: GateCall };

/** What becomes of a call that PreToolUse hooks look at, before any rule has its say. */
export async function beforeTool(stage: CallStage): Promise<Outcome> {
  const { call, mode, ask, fs, home } = stage;
  const seen = (one: GateCall): CallView => viewOf(one, { fs, home, mode, rules: NO_RULES });
  const precheck = createHookPrecheck(ask, {
    ifRule: (view) => stage.fits({ call: view.call, mode }),
  });
  const found = await examine(precheck, seen(call), { viewOf: seen, rewritten: false });
  const { view, guard, resolver, contexts = [], agentContext } = found;
  const finding = (await guard?.decide(view)) ?? NOTHING;
  const opening = await resolver?.decide(view);
  const reason = finding.reason ?? '';
  const ends = finding.stop === undefined ? '' : ' The turn would end.';
  const said = {
    deny: `would be refused: ${reason}${ends}`,
    defer: `would be put off: ${reason}`,
    ask: `a person would be asked: ${reason}`,
    none:
      opening?.decision === 'allow'
        ? `would be allowed where no rule holds it: ${opening.reason}`
        : (opening?.reason ?? 'no hook objects; rules and mode decide'),
  }[finding.decision];
  return {
    text: said,
    refused: finding.decision === 'deny',
    forModel: [...contexts, ...(agentContext === undefined ? [] : [agentContext])],
    ...(view.call.input === call.input ? {} : { input: view.call.input }),
  };
}

/** What PermissionRequest hooks answer in place of a person. */
export async function onQuestion(stage: CallStage): Promise<Outcome> {
  const { call, mode, ask } = stage;
  const asker = createHookAsker(ask, { ifRule: stage.fits })(call, undefined);
  const answer: AskAnswer | undefined = await asker?.({
    call,
    mode,
    trace: [],
    reason: 'hooks are being tested',
  });
  if (answer === undefined || (answer.behavior === 'deny' && answer.unanswered === true)) {
    return nothingHeld('no hook decides; whoever is there is asked');
  }
  if (answer.behavior === 'deny') {
    const ends = answer.interrupt === true || answer.stop !== undefined;
    const text = `would be refused: ${answer.message}${ends ? ' The turn would end.' : ''}`;
    return { text, refused: true, forModel: [] };
  }
  const { updatedInput: input, updatedPermissions = [] } = answer;
  const more = updatedPermissions.length === 0 ? '' : ', with changes to the permissions';
  return {
    text: `would be allowed without a question${more}`,
    refused: false,
    forModel: [],
    ...(input === undefined ? {} : { input }),
    ...(updatedPermissions.length === 0 ? {} : { permissions: updatedPermissions }),
  };
}

/** What the model reads of a call that has run. */
export async function afterTool(stage: CallStage): Promise<Outcome> {
  const { call, mode, ask, signal, event, fields } = stage;
  const given = outputOf(event === 'PostToolUseFailure' ? fields.error : fields.tool_response);
  const output = event === 'PostToolUseFailure' ? { ...given, isError: true } : given;
  const fits = stage.fits({ call, mode });
  const after = await createPostToolHooks(ask).after({
    call,
    mode,
    output,
    ms: typeof fields.duration_ms === 'number' ? fields.duration_ms : 0,
    signal,
    fits,
  });
  const isWithheld = after.output.isError === true && output.isError !== true;
  const isOther = after.output !== output;
  const what = isWithheld
    ? 'the output would be withheld'
    : isOther
      ? 'the model would read another output'
      : 'the model would read the output as it is';
  return {
    text: after.stop === undefined ? what : `${what}, and the turn would end: ${after.stop}`,
    refused: isWithheld,
    forModel: [...(isOther ? [textOf(after.output.content)] : []), ...after.contexts],
  };
}

function outputOf(response: unknown): ToolOutput {
  if (typeof response === 'string') return { content: response };
  const content = JSON.stringify(response) ?? '';
  return isRecord(response) || Array.isArray(response)
    ? { content, structured: response }
    : { content };
}

export async function afterBatch(stage: Stage): Promise<Outcome> {
  const { contexts, stop } = await createPostToolHooks(stage.ask).batch(stage.scene, () => [
    // The hooks are shown the payload; that there is a call is all that is looked at here.
    { tool_name: '', tool_input: {}, tool_use_id: '', tool_response: '' },
  ]);
  return {
    text: stop === undefined ? 'the turn goes on' : `the turn would end: ${stop}`,
    refused: stop !== undefined,
    forModel: contexts,
  };
}
