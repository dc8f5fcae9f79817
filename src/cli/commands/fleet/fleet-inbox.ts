import { PortcullisError } from '../../../errors.js';
import type { OpenAsk } from '../../../fleet/types.js';
import { visible } from '../../../lib/text/visible.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { refuseAgent } from '../person.js';
import { JSON_OPTION, printJson, textOption } from '../project-call.js';
import { person, withFleet } from './fleet-call.js';

const answer: CommandSpec = {
  summary: 'Answer a question. The first answer counts.',
  arguments: [
    { name: '<id>', description: 'The id of the question.' },
    { name: '<answer>', description: '`allow` or `deny`.' },
  ],
  options: [{ flags: '--message <text>', description: 'A text for the agent.' }, JSON_OPTION],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet inbox answer');
      const [id = '', behavior] = call.args;
      if (behavior !== 'allow' && behavior !== 'deny') {
        throw new PortcullisError('usage', `"${visible(behavior ?? '')}" is not an answer`, {
          remedy: `portcullis fleet inbox answer ${visible(id)} allow, or deny`,
        });
      }
      const ask = (await fleet.asks()).find((one) => one.id === id);
      const isForm = ask?.question.kind === 'form' || ask?.question.kind === 'url';
      if (isForm && behavior === 'allow') {
        throw new PortcullisError('usage', `${visible(id)} asks for more than a yes`, {
          remedy: `portcullis fleet attach ${ask.session.slice(0, 8)} shows the form`,
        });
      }
      const message = textOption(call.options, 'message');
      const given = isForm
        ? ({ action: 'decline' } as const)
        : behavior === 'allow'
          ? ({ behavior } as const)
          : ({ behavior, message: message ?? 'The user refused.' } as const);
      const at = new Date().toISOString();
      const state =
        ask === undefined ? 'closed' : await fleet.answer(id, { by: person(), answer: given, at });
      if (state === 'closed') {
        throw new PortcullisError(
          'config',
          `${visible(id)} is not open: answered, expired or withdrawn`,
          {
            remedy: 'portcullis fleet inbox shows open questions',
          },
        );
      }
      if (call.options.json === true) printJson(call, { id, behavior });
      else call.output.out(`${behavior === 'allow' ? 'Allowed' : 'Refused'} ${id}.\n`);
      return EXIT.done;
    }),
};

export const command: CommandSpec = {
  summary: 'List and answer questions of all sessions.',
  options: [JSON_OPTION],
  subcommands: { answer: { summary: answer.summary, load: async () => ({ command: answer }) } },
  run: (call) =>
    withFleet(async (fleet) => {
      const asks = await fleet.asks();
      if (call.options.json === true) printJson(call, asks);
      else if (asks.length === 0) call.output.out('No session waits for an answer.\n');
      else call.output.out(`${asks.map(askText).join('\n')}\n`);
      return EXIT.done;
    }),
};

function askText({ id, session, tenant, title, question, expiresAt }: OpenAsk): string {
  const what =
    'call' in question
      ? `${question.call.tool}: ${question.call.summary}\n  ${JSON.stringify(question.call.input)}`
      : 'message' in question
        ? question.message
        : question.kind;
  return [
    `${id}  ${visible(what)}`,
    `  ${visible(question.reason)}`,
    `  session ${session.slice(0, 8)} ${visible(title)} of ${visible(tenant)}, open until ${expiresAt}`,
    `  portcullis fleet inbox answer ${id} allow|deny`,
    '',
  ].join('\n');
}
