/**
 * Directories in which nobody looks for skills, commands and agents: libraries and repositories. One
 * rule for who asks for trust and for who uses them: what is passed over by one alone would be used
 * without a question.
 */
export const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * A larger file is no definition of an agent. One number for who asks for trust and for who reads
 * agents: what no reader takes can declare nothing.
 */
export const LARGEST_DOCUMENT = 4 * 1024 * 1024;
