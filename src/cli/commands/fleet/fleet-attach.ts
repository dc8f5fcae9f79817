import { FleetClient } from '../../../fleet/attach.js';
import type { FleetSession } from '../../../fleet/types.js';
import { visible } from '../../../lib/text/visible.js';
import { hasTerminal } from '../../ask.js';
import type { CommandCall, CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { interruptible, refuseAgent } from '../person.js';
import { JSON_OPTION } from '../project-call.js';
import { findSession, person, withFleet } from './fleet-call.js';

export const command: CommandSpec = {
  summary: 'Follow a session live, answer its questions and send it messages.',
  arguments: [{ name: '<session>', description: 'Its id, or the beginning of it.' }],
  options: [
    { flags: '--until-idle', description: 'Leave when the session has nothing to do.' },
    { ...JSON_OPTION, description: 'Print events as JSON lines.' },
  ],
  notes: 'Leaving does not end the session.',
  run: (call) =>
    withFleet(async (fleet) => {
      const session = await findSession(fleet, call.args[0] ?? '');
      const isScreen =
        hasTerminal() && call.options.json !== true && call.options.untilIdle !== true;
      if (isScreen) refuseAgent('fleet attach');
      const client = await FleetClient.attach(fleet, session, person());
      try {
        return isScreen
          ? await show(client)
          : await print(client, call, () => fleet.show(session.order.id));
      } finally {
        client.close();
      }
    }),
};

async function show(client: FleetClient): Promise<number> {
  const { runTerminal } = await import('../../../tui/index.js');
  const kind = (process.env.TERM ?? 'dumb') === 'dumb' ? 'dumb' : 'full';
  const how = await runTerminal(client, { kind, cwd: process.cwd(), env: process.env });
  return how === 'interrupted' ? EXIT.interrupted : EXIT.done;
}

/** Where no person can answer: what happens, a line for each event. */
async function print(
  client: FleetClient,
  { options, output }: CommandCall,
  current: () => Promise<FleetSession | undefined>,
): Promise<number> {
  const isJson = options.json === true;
  if (!isJson) {
    for (const { role, text, tools } of await client.send('history', {})) {
      output.out(
        `${role === 'user' ? '> ' : ''}${visible(text)}${tools === undefined ? '' : ` [${tools.join(', ')}]`}\n`,
      );
    }
  }
  return await interruptible(async (signal) => {
    const stop = new AbortController();
    const signals = AbortSignal.any([signal, stop.signal]);
    const isOver = async (): Promise<boolean> =>
      ['idle', 'stopped', 'parked', 'cancelled'].includes((await current())?.phase ?? 'cancelled');
    const looking = setInterval(() => {
      if (options.untilIdle === true)
        void isOver().then(
          (over) => over && stop.abort(),
          () => undefined,
        );
    }, 500);
    try {
      for await (const { event } of client.events({ after: 0, deltas: false, signal: signals })) {
        if (isJson) output.out(`${JSON.stringify(event)}\n`);
        else if (event.type === 'turn_finished') output.out(`${visible(event.turn.text)}\n`);
        else if (event.type === 'tool' && event.state.kind === 'running')
          output.out(`[${event.call.tool}]\n`);
        else if (event.type === 'notice') output.warn(visible(event.text));
        else if (event.type === 'question')
          output.out(
            `? ${event.question.id} ${visible(event.question.reason)}: portcullis fleet inbox\n`,
          );
      }
    } finally {
      clearInterval(looking);
    }
    return EXIT.done;
  });
}
