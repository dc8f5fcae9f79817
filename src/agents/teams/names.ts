/** How the agent of the conversation is called in its team. */
export const LEAD = 'team-lead';
/** By which a message goes to everybody else. */
export const EVERYBODY = '*';

const RESERVED: readonly string[] = [LEAD, 'lead', 'main', 'user', 'system', 'all', 'everybody'];

/**
 * fail-closed: names become names of files and of panes, and stand in what other models read: letters
 * and digits of the plain alphabet, and nothing that could lead anywhere or say anything.
 */
export function teammateNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) {
    return 'the name of a teammate has at most 32 letters, digits, - and _, and begins with a letter or digit';
  }
  // fail-closed: some disks do not tell upper from lower case, nor do people.
  return RESERVED.includes(name.toLowerCase()) ? `"${name}" is not free for a teammate` : undefined;
}

export function teamNameProblem(name: string): string | undefined {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) return undefined;
  return 'the name of a team has at most 64 small letters, digits and -, and begins with a letter or digit';
}

/** One team a session; it is called after it. */
export function teamNameOf(sessionId: string): string {
  return `session-${sessionId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 8)}`;
}
