import type { AgentSession } from '../app.js';
import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import type { ConfirmQuestion } from './questions.js';

/** Resolves to the key of an option. Undefined: none was chosen. */
export type AskFile = (question: Omit<ConfirmQuestion, 'kind'>) => Promise<string | undefined>;

const PLACES = {
  project: { key: 'p', label: 'Project' },
  local: { key: 'l', label: 'Project, only on this machine' },
  user: { key: 'u', label: 'User, for all projects' },
} as const;

/** Adds a person's note to the instruction file that they choose. Undefined: they chose none. */
export async function remember(
  session: AgentSession,
  text: string,
  ask: AskFile,
): Promise<string | undefined> {
  const files = await session.requests.instructionFiles();
  if (files.length === 0) {
    throw new PortcullisError('usage', 'this session reads no instruction files', {
      remedy: 'start it with --setting-sources user,project,local',
    });
  }
  const chosen = await ask({
    topic: 'memory',
    title: 'Add this to the instructions of which file?',
    details: [visible(text)],
    options: [
      ...files.map(({ scope, path, isNew }) => ({
        key: PLACES[scope].key,
        label: `${PLACES[scope].label}: ${visible(path)}${isNew ? ' (new file)' : ''}`,
      })),
      { key: 'n', label: 'Do not save it' },
    ],
  });
  const file = files.find(({ scope }) => PLACES[scope].key === chosen);
  if (file === undefined) return undefined;
  await session.requests.addInstruction(file, text);
  return file.path;
}
