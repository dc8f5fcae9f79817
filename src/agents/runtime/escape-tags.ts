/** A possible tag: its bracket and name, with hidden characters between the letters. */
const TAG =
  /[<＜﹤](?=(?:[\s\p{Cf}\p{Mn}]{0,9}[/／]?[\s\p{Cf}\p{Mn}]{0,9})([\p{L}\p{Cf}\p{Mn}_:-]{1,60}))/gu;
/** Tags in which the program speaks to a model or wraps an agent's text. */
const NAMES =
  /^(?:system|task-|command-|local-command|user-prompt|tool_|function_|invoke(?![\p{L}\p{N}_])|antml|agent-|teammate|channel|fork|bash-|delivery-|output-file|persisted-output|new-diagnostics|(?:summary|result|status)(?![\p{L}\p{N}_-]))/iu;
/** Lines that imitate a change of speaker. */
const SPEAKERS = /^([^\S\n]*)(Human|Assistant|System|User)(?=:)/gim;
/** Lines in which the program reports how an agent ended. */
const NOTES =
  /^([^\S\n]*)\[(?=agentId:|Its (?:worktree|changes)\b|It (?:wrote|did)\b|The agent\b)/gim;

/** Escapes text of an agent that imitates the program or a person with a backslash, removing nothing. */
export function escapeReport(text: string): string {
  return text
    .replace(TAG, (bracket, name: string) =>
      NAMES.test(name.normalize('NFKC').replace(/[\p{Cf}\p{Mn}]/gu, '')) ? `\\${bracket}` : bracket,
    )
    .replace(SPEAKERS, '$1\\$2')
    .replace(NOTES, '$1\\[');
}
