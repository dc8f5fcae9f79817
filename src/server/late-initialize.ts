import type { Message } from './inbound.js';

/** What a host says of a session that is open already, and that cannot come true any more. */
export interface LateFields {
  /** Fields that shape what the session may do and how it answers. */
  readonly refused: readonly string[];
  /** Fields that are a convenience. */
  readonly ignored: readonly string[];
}

const SHAPING: readonly string[] = [
  'agents',
  'skills',
  'jsonSchema',
  'systemPrompt',
  'appendSystemPrompt',
  'planModeInstructions',
];
const CONVENIENT: readonly string[] = ['title', 'forwardSubagentText'];

/**
 * Compares an `initialize` with the one that the session was opened with. A field that is left out
 * asks for no change; hooks and what the host itself offers may come at any time.
 */
export function lateFields(opened: Message, initialize: Message): LateFields {
  const isOther = (name: string): boolean => {
    const wanted = initialize[name] ?? undefined;
    return (
      wanted !== undefined &&
      wanted !== false &&
      JSON.stringify(wanted) !== JSON.stringify(opened[name])
    );
  };
  return { refused: SHAPING.filter(isOther), ignored: CONVENIENT.filter(isOther) };
}
