/**
 * Directories in which nobody looks for skills, commands and agents: libraries and repositories. One
 * rule for who asks for trust and for who uses them: what is passed over by one alone would be used
 * without a question.
 */
export const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.git']);
