import { isSealed, seal } from '../util/sealed.js';
import type { GateCall } from './types.js';

/** fail-closed: an input that its giver could still change is judged, and runs, as a copy. */
export function fixedCall(call: GateCall): GateCall {
  if (isSealed(call.input)) return call;
  const { tool, workspace } = call;
  const input = seal(call.input);
  if (!input.ok) throw new Error(`the input of ${tool.name} is not plain: ${input.error}`);
  return { ...call, input: input.value, subject: tool.subject(input.value, workspace) };
}
