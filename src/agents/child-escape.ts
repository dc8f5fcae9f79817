/** Tags by which the program speaks to a model. */
const TAGS =
  /<(?=\s{0,9}\/?\s{0,9}(?:system|task-|command-|local-command|user-prompt|tool_|function_|invoke\b|antml|agent-|teammate|channel|fork|bash-|summary\b))/gi;
/** Lines by which a text pretends that somebody else is speaking. */
const SPEAKERS = /^([^\S\n]*)(Human|Assistant|System|User)(?=:)/gim;

/**
 * What an agent says is not the program's word, nor a person's: whatever looks like it gets a
 * backslash in front. Nothing is taken away.
 */
export function escapeReport(text: string): string {
  return text.replace(TAGS, '\\<').replace(SPEAKERS, '$1\\$2');
}
