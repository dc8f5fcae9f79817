import type { InboxQuestion } from '../../agents/inbox-question.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { inboxHere } from './inbox-here.js';

export const USAGE = 'portcullis inbox list [--json]';

export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  if (words.length > 0) {
    throw new PortcullisError('usage', `inbox list takes no "${visible(words[0] ?? '')}"`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const questions = inboxHere().list();
  if (switches.has('json')) output.out(`${JSON.stringify(questions, null, 2)}\n`);
  else if (questions.length === 0) output.out('No agent waits for an answer.\n');
  else output.out(`${questions.map(textOf).join('\n')}\n`);
  return EXIT.done;
}

function textOf(question: InboxQuestion): string {
  const { id, agent, tool, summary, reason, cwd, expiresAt, sessionId } = question;
  const minutes = Math.max(0, Math.ceil((expiresAt - Date.now()) / 60_000));
  const name = agent.name === undefined ? '' : ` (${visible(agent.name)})`;
  return [
    `${id}  ${visible(agent.path)}${name} wants ${visible(tool)}: ${visible(summary)}`,
    `  ${visible(reason)}`,
    `  in ${visible(cwd)}, session ${visible(sessionId.slice(0, 8))}, ${minutes} min left`,
    `  portcullis inbox answer ${id} allow|deny`,
    '',
  ].join('\n');
}
