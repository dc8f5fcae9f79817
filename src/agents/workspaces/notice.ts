/**
 * What an agent is told about its place before its task. It names no path but its own: what is not
 * in the prompt is not worked on by mistake.
 */
export function worktreeNotice({ path, branch }: { path: string; branch?: string }): string {
  const on = branch === undefined || branch === '' ? '' : ` on the branch ${branch}`;
  return [
    `You work in a working tree of your own: ${path}${on}. It began with what was committed, so changes of others that are not committed yet are not in it.`,
    `- Paths in your task may come from another checkout of the same repository. Translate them: the same file, below ${path}. Files of the other checkout are neither read nor changed.`,
    '- What you know of files from before does not count here. Read a file in this tree before you edit it.',
    '- Your changes stay in this tree until somebody takes them over. Say in your report what you changed and whether you committed it.',
    `- Every shell command starts in ${path}. Commands that would leave it, or that cannot be followed (variables in file names, brace expansion, unquoted here-documents), are refused.`,
  ].join('\n');
}

export function directoryNotice(path: string): string {
  return [
    `You work in ${path}. It is the only place that you write to; other files of the project may be read.`,
    `Every shell command starts there. Commands that could write elsewhere are refused.`,
  ].join('\n');
}

export function scratchNotice(path: string): string {
  return [
    `You work in ${path}, an empty directory of your own and the only place that you write to. Files of the project may be read.`,
    'It is removed when you are done. A file that is part of your result stays if you name it with its whole path in your last answer.',
  ].join('\n');
}
