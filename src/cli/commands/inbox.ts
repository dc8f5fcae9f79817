import { PortcullisError } from '../../errors.js';
import { visible } from '../../lib/text/visible.js';
import type { InboxQuestion } from '../../project/project.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { refuseAgent } from './person.js';
import { commandGroup, JSON_OPTION, printJson, textOption, withProject } from './project-call.js';

const list: CommandSpec = {
  summary: 'List the questions of background agents.',
  options: [JSON_OPTION],
  run: (call) =>
    withProject(call, async (project) => {
      const questions = project.inbox().list();
      if (call.options.json === true) printJson(call, questions);
      else if (questions.length === 0) call.output.out('No agent waits for an answer.\n');
      else call.output.out(`${questions.map(questionText).join('\n')}\n`);
      return EXIT.done;
    }),
};

function questionText(question: InboxQuestion): string {
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

const answer: CommandSpec = {
  summary: 'Answer a question. The first answer counts.',
  arguments: [
    { name: '<id>', description: 'The id of the question, from `inbox list`.' },
    { name: '<answer>', description: '`allow` or `deny`.' },
  ],
  options: [
    {
      flags: '--scope <scope>',
      description: 'Allow this call once, or such calls for the session.',
      choices: ['once', 'session'],
      default: 'once',
    },
    { flags: '--message <text>', description: 'A text for the agent.' },
    JSON_OPTION,
  ],
  run: (call) =>
    withProject(call, async (project) => {
      const [id = '', behavior] = call.args;
      if (behavior !== 'allow' && behavior !== 'deny') {
        throw new PortcullisError('usage', `"${visible(behavior ?? '')}" is not an answer`, {
          remedy: `portcullis inbox answer ${visible(id)} allow, or deny`,
        });
      }
      refuseAgent('inbox answer');
      const scope = call.options.scope === 'session' ? 'session' : 'once';
      const message = textOption(call.options, 'message');
      const answered = project.inbox().answer(id, { behavior, scope, message });
      if (!answered.ok) {
        throw new PortcullisError('config', visible(answered.error), {
          remedy: 'portcullis inbox list shows open questions',
        });
      }
      const { agent, tool, summary } = answered.value;
      if (call.options.json === true) {
        call.output.out(`${JSON.stringify({ id, behavior, scope })}\n`);
        return EXIT.done;
      }
      const what = behavior === 'allow' ? 'Allowed' : 'Refused';
      const long = behavior === 'allow' && scope === 'session' ? ' for its session' : '';
      const asked = `${visible(agent.path)}, ${visible(tool)}: ${visible(summary)}`;
      call.output.out(`${what}${long}: ${asked}\n`);
      return EXIT.done;
    }),
};

export const command = commandGroup('List and answer questions of background agents.', {
  list,
  answer,
});
