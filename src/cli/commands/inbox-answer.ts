import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { inboxHere } from './inbox-here.js';
import { refuseAgent } from './person-only.js';

export const USAGE =
  'portcullis inbox answer <id> allow|deny [--scope once|session] [--message TEXT] [--json]';

/** Answers a question of a background agent. Whoever answers first has answered. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, values, switches } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['scope', 'message'],
  });
  const [id = '', behavior, ...others] = words;
  const scope = values.get('scope') ?? 'once';
  const isGiven = behavior === 'allow' || behavior === 'deny';
  if (!isGiven || others.length > 0 || (scope !== 'once' && scope !== 'session')) {
    throw new PortcullisError('usage', 'inbox answer: that is not understood', {
      remedy: `usage: ${USAGE}`,
    });
  }
  const inbox = inboxHere();
  refuseAgent('inbox answer');
  const message = values.get('message');
  const given = { behavior, scope, ...(message === undefined ? {} : { message }) } as const;
  const answered = inbox.answer(id, given);
  if (!answered.ok) {
    throw new PortcullisError('config', visible(answered.error), {
      remedy: 'portcullis inbox list shows what is open',
    });
  }
  const { agent, tool, summary } = answered.value;
  if (switches.has('json')) output.out(`${JSON.stringify({ id, behavior, scope })}\n`);
  else {
    const what = behavior === 'allow' ? 'Allowed' : 'Refused';
    const long = behavior === 'allow' && scope === 'session' ? ', for as long as it lives' : '';
    output.out(`${what}${long}: ${visible(agent.path)}, ${visible(tool)}: ${visible(summary)}\n`);
  }
  return EXIT.done;
}
