/** What marks, as the last entry, that a run ended with a call that was put off. */
export const DEFERRED_MARK = 'tool_deferred';
