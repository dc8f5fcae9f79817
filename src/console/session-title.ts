import { openTranscripts, projectKeyOf } from '../app.js';
import { summarizeSession } from '../client/session-summary.js';

/** What a running session is about, from its transcript. Empty: nothing is written down yet. */
export async function sessionTitle(
  env: Readonly<Record<string, string | undefined>>,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): Promise<string> {
  if (sessionId === '') return '';
  const archive = openTranscripts(env);
  const place = { project: projectKeyOf(cwd), sessionId };
  const lines = await archive.readSummary(place);
  return summarizeSession({ ...place, modifiedAt: 0 }, lines)?.summary ?? '';
}
