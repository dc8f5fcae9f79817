import { z } from 'zod';
import { CONTROL_TYPES } from '../../../src/protocol/control.schema.js';
import { MESSAGE_TYPES } from '../../../src/protocol/session-messages.schema.js';

const TYPES = [...MESSAGE_TYPES, ...CONTROL_TYPES];
const anyMessage = z.union(TYPES.map(({ schema }) => schema) as [z.ZodType, z.ZodType]);

/** What the declared type of a message does not allow about it. */
export function problemsOf(message: Readonly<Record<string, unknown>>): readonly string[] {
  if (anyMessage.safeParse(message).success) return [];
  const { type, subtype } = message;
  const same = TYPES.flatMap(({ name, schema }) => {
    const { error } = schema.safeParse(message);
    const isOther = error?.issues.some(({ path: [first] }) =>
      ['type', 'subtype'].includes(String(first)),
    );
    return error === undefined || isOther ? [] : [`${name}: ${z.prettifyError(error)}`];
  });
  return same.length === 0 ? [`no message is declared as ${type}/${subtype}`] : same;
}
