/** What may be a tag: its bracket, and its name with whatever cannot be seen between the letters. */
const TAG =
  /[<＜﹤](?=(?:[\s\p{Cf}\p{Mn}]{0,9}[/／]?[\s\p{Cf}\p{Mn}]{0,9})([\p{L}\p{Cf}\p{Mn}_:-]{1,60}))/gu;
/** Names of tags by which the program speaks to a model, or sets what an agent said apart. */
const NAMES =
  /^(?:system|task-|command-|local-command|user-prompt|tool_|function_|invoke(?![\p{L}\p{N}_])|antml|agent-|teammate|channel|fork|bash-|delivery-|output-file|persisted-output|new-diagnostics|(?:summary|result|status)(?![\p{L}\p{N}_-]))/iu;
/** Lines by which a text pretends that somebody else is speaking. */
const SPEAKERS = /^([^\S\n]*)(Human|Assistant|System|User)(?=:)/gim;
/** Lines in which the program says what became of an agent. */
const NOTES =
  /^([^\S\n]*)\[(?=agentId:|Its (?:worktree|changes)\b|It (?:wrote|did)\b|The agent\b)/gim;

/**
 * What an agent says is not the program's word, nor a person's: whatever looks like it gets a
 * backslash in front. Nothing is taken away.
 */
export function escapeReport(text: string): string {
  return text
    .replace(TAG, (bracket, name: string) =>
      NAMES.test(name.normalize('NFKC').replace(/[\p{Cf}\p{Mn}]/gu, '')) ? `\\${bracket}` : bracket,
    )
    .replace(SPEAKERS, '$1\\$2')
    .replace(NOTES, '$1\\[');
}
