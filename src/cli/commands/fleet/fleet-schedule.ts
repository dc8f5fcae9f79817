import { PortcullisError } from '../../../errors.js';
import { parseCron } from '../../../fleet/cron.js';
import type { Schedule } from '../../../fleet/types.js';
import { table } from '../../../lib/table.js';
import { visible } from '../../../lib/text/visible.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { confirmed, refuseAgent, YES_OPTION } from '../person.js';
import { JSON_OPTION, printJson } from '../project-call.js';
import { ORDER_OPTIONS, orderFrom, withFleet } from './fleet-call.js';

const add: CommandSpec = {
  summary: 'Submit a session at set times. Shows first what it could do unattended.',
  arguments: [
    { name: '<name>', description: 'A name for the schedule.' },
    { name: '<cron>', description: 'Minute, hour, day, month, weekday, in UTC: "30 3 * * 1-5".' },
    { name: '<prompt...>', description: 'What each session is to do.' },
  ],
  options: [...ORDER_OPTIONS, YES_OPTION],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet schedule');
      const [name = '', cron = '', ...words] = call.args;
      parseCron(cron);
      const order = orderFrom(call);
      const schedule: Schedule = {
        name,
        cron,
        prompt: words.join(' '),
        order,
        enabled: true,
        lastRun: '',
      };
      call.output.out(unattended(schedule));
      const refused = 'the schedule was not enabled';
      const isEnabled = await confirmed(call, 'Enable it?', {
        refused,
        remedy: 'add --yes to enable it without a question',
      });
      if (!isEnabled) {
        call.output.out('Not enabled.\n');
        return EXIT.done;
      }
      // The minute that runs now is not made up for.
      await fleet.putSchedule({ ...schedule, lastRun: new Date().toISOString().slice(0, 16) });
      call.output.out(`Enabled ${visible(name)}.\n`);
      return EXIT.done;
    }),
};

/** What a session of this schedule may do while no person looks. */
export function unattended({
  name,
  cron,
  prompt,
  order,
}: Pick<Schedule, 'name' | 'cron' | 'prompt' | 'order'>): string {
  const { options } = order;
  const list = (key: string): string => {
    const rules = options[key];
    return Array.isArray(rules) && rules.length > 0 ? rules.join(', ') : '';
  };
  const mode =
    options.dangerouslySkipPermissions === true
      ? 'bypassPermissions'
      : String(options.permissionMode ?? 'default');
  const asks =
    mode === 'bypassPermissions'
      ? 'NOTHING is asked: every call runs that no deny rule stops'
      : mode === 'dontAsk'
        ? 'what no rule allows is refused'
        : `what no rule allows waits in the inbox for up to ${order.askHours} h`;
  const rows = [
    ['schedule', `${name}: ${cron} (UTC)`],
    ['prompt', prompt],
    ['repository', order.repository ?? 'none, an empty workspace'],
    [
      'may without a question',
      [
        'read files of the workspace',
        mode === 'acceptEdits' ? 'edit them' : '',
        list('allowedTools'),
      ]
        .filter(Boolean)
        .join('; '),
    ],
    ['never', list('disallowedTools')],
    ['otherwise', asks],
    [
      'repository settings',
      options.trustProject === true
        ? 'trusted: its rules, hooks and servers count'
        : 'not trusted: only what they forbid counts',
    ],
    [
      'other settings',
      options.settings === undefined
        ? "those of the worker's machine"
        : 'those of the worker, and what the policy file sets',
    ],
    [
      'cost',
      order.budgetUsd === undefined
        ? 'no limit of its own'
        : `at most $${order.budgetUsd} a session`,
    ],
  ];
  return rows
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}: ${visible(value ?? '')}\n`)
    .join('');
}

const remove: CommandSpec = {
  summary: 'Remove a schedule.',
  arguments: [{ name: '<name>', description: 'Its name.' }],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet schedule');
      const [name = ''] = call.args;
      if (!(await fleet.removeSchedule(name))) {
        throw new PortcullisError('config', `there is no schedule ${visible(name)}`, {
          remedy: 'portcullis fleet schedule lists them',
        });
      }
      call.output.out(`Removed ${visible(name)}.\n`);
      return EXIT.done;
    }),
};

export const command: CommandSpec = {
  summary: 'Submit sessions at set times.',
  options: [JSON_OPTION],
  subcommands: {
    add: { summary: add.summary, load: async () => ({ command: add }) },
    remove: { summary: remove.summary, load: async () => ({ command: remove }) },
  },
  run: (call) =>
    withFleet(async (fleet) => {
      const schedules = await fleet.schedules();
      if (call.options.json === true) printJson(call, schedules);
      else if (schedules.length === 0) call.output.out('No schedules.\n');
      else {
        const rows = schedules.map((one) => [
          visible(one.name),
          one.cron,
          visible(one.order.tenant),
          one.lastRun,
          visible(one.prompt.slice(0, 60)),
        ]);
        call.output.out(`${table([['NAME', 'CRON', 'TENANT', 'LAST', 'PROMPT'], ...rows])}\n`);
      }
      return EXIT.done;
    }),
};
