import { freezeJson } from '../lib/frozen-json.js';
import { absoluteInput } from './absolute-input.js';
import type { GateCall } from './types.js';

/**
 * The call in the one form that everybody judges and that runs.
 * fail-closed: an input that its giver could still change is judged, and runs, as a copy.
 */
export function fixedCall(call: GateCall): GateCall {
  const given = frozen(call, call.input);
  const input = frozen(call, absoluteInput({ ...call, input: given }));
  if (input === call.input) return call;
  return { ...call, input, subject: call.tool.subject(input, call.workspace) };
}

function frozen({ tool }: GateCall, input: GateCall['input']): GateCall['input'] {
  const sealed = freezeJson(input);
  if (!sealed.ok) throw new Error(`the input of ${tool.name} is not plain: ${sealed.error}`);
  return sealed.value;
}
