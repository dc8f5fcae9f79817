import { PortcullisError } from '../../../errors.js';
import { mailOf, orderOf, uuidFrom } from '../../../fleet/order.js';
import type { FleetSession, SessionPhase, TenantRow } from '../../../fleet/types.js';
import { table } from '../../../lib/table.js';
import { visible } from '../../../lib/text/visible.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { refuseAgent } from '../person.js';
import { commandGroup, JSON_OPTION, numberOption, printJson, textOption } from '../project-call.js';
import { findSession, ORDER_OPTIONS, orderFrom, person, withFleet } from './fleet-call.js';

const SESSION_ARGUMENT = { name: '<session>', description: 'Its id, or the beginning of it.' };

const submit: CommandSpec = {
  summary: 'Give a prompt to the fleet.',
  arguments: [{ name: '<prompt...>', description: 'What the session is to do.' }],
  options: [
    ...ORDER_OPTIONS,
    {
      flags: '--key <key>',
      description: 'Submit once: a second call with this key gives the same session.',
    },
    JSON_OPTION,
  ],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet submit');
      const key = textOption(call.options, 'key');
      const id = key === undefined ? undefined : uuidFrom(`fleet submit ${key}`);
      const order = orderOf({ ...orderFrom(call), ...(id !== undefined && { id }) });
      const known = id === undefined ? undefined : await fleet.show(id);
      if (known === undefined) {
        await fleet.submit(order, [mailOf(call.args.join(' '), { from: person() })]);
      }
      if (call.options.json === true) printJson(call, { session: order.id });
      else
        call.output.out(
          `${order.id}\nFollow it: portcullis fleet attach ${order.id.slice(0, 8)}\n`,
        );
      return EXIT.done;
    }),
};

const send: CommandSpec = {
  summary: 'Send a message to a session.',
  arguments: [SESSION_ARGUMENT, { name: '<text...>', description: 'The message.' }],
  options: [{ flags: '--now', description: 'Into the running turn, not after it.' }],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet send');
      const [name = '', ...words] = call.args;
      const { order } = await findSession(fleet, name);
      const when = call.options.now === true ? 'next' : 'later';
      const isSent = await fleet.send(order.id, mailOf(words.join(' '), { from: person(), when }));
      if (!isSent) throw new PortcullisError('session', `session ${order.id} was cancelled`);
      call.output.out(`Sent to ${order.id.slice(0, 8)}.\n`);
      return EXIT.done;
    }),
};

const list: CommandSpec = {
  summary: 'List sessions, and why they wait.',
  options: [
    { flags: '--tenant <name>', description: 'Of this tenant.' },
    {
      flags: '--phase <phase>',
      description: 'In this phase.',
      choices: ['ready', 'running', 'parked', 'idle', 'stopped', 'cancelled'],
    },
    { flags: '--limit <number>', description: 'At most so many (default: 50).' },
    JSON_OPTION,
  ],
  run: (call) =>
    withFleet(async (fleet) => {
      const sessions = await fleet.list({
        tenant: textOption(call.options, 'tenant'),
        phase: textOption(call.options, 'phase') as SessionPhase | undefined,
        limit: numberOption(call.options, 'limit', { min: 1, max: 100_000, whole: true }) ?? 50,
      });
      const tenants = new Map((await fleet.tenants()).map((row) => [row.name, row]));
      if (call.options.json === true) printJson(call, sessions);
      else if (sessions.length === 0) call.output.out('No sessions.\n');
      else {
        const rows = sessions.map((one) => [
          one.order.id.slice(0, 8),
          one.phase,
          visible(one.order.tenant),
          String(one.turns),
          `$${one.spentUsd.toFixed(2)}`,
          visible(one.order.title ?? ''),
          visible(one.reason || whyReady(one, tenants.get(one.order.tenant))),
        ]);
        call.output.out(
          `${table([['ID', 'PHASE', 'TENANT', 'TURNS', 'COST', 'TITLE', 'REASON'], ...rows])}\n`,
        );
      }
      return EXIT.done;
    }),
};

/** What a ready session waits for, as far as limits tell. */
function whyReady({ phase }: FleetSession, tenant: TenantRow | undefined): string {
  if (phase !== 'ready' || tenant === undefined) return '';
  const { concurrency, budgetUsd, spentUsd, running, name } = tenant;
  if (concurrency != null && running >= concurrency)
    return `waits: tenant ${name} runs ${running} of ${concurrency}`;
  if (budgetUsd != null && spentUsd >= budgetUsd)
    return `waits: the budget of tenant ${name} is used up`;
  return 'waits for a worker';
}

const show: CommandSpec = {
  summary: 'Show a session: phase, cost, snapshot, open questions.',
  arguments: [SESSION_ARGUMENT],
  options: [{ flags: '--verify', description: 'Check the chain of its receipts.' }, JSON_OPTION],
  run: (call) =>
    withFleet(async (fleet) => {
      const session = await findSession(fleet, call.args[0] ?? '');
      const { id } = session.order;
      const asks = await fleet.asks(id);
      const unknown = (await fleet.intents(id)).filter(({ ended }) => !ended);
      const { readReceipts } = await import('../../../fleet/receipts.js');
      const chain =
        call.options.verify === true ? readReceipts(await fleet.receipts(id)).chain : undefined;
      if (call.options.json === true)
        printJson(call, { ...session, asks, openCalls: unknown, chain });
      else
        call.output.out(describe(session, { asks: asks.length, unknown: unknown.length, chain }));
      return chain?.ok === false ? EXIT.error : EXIT.done;
    }),
};

function describe(
  session: FleetSession,
  facts: {
    readonly asks: number;
    readonly unknown: number;
    readonly chain: { ok: boolean } | undefined;
  },
): string {
  const { order, snapshot } = session;
  const rows = [
    ['session', order.id],
    ['title', order.title ?? ''],
    ['phase', session.phase],
    ['reason', session.reason],
    ['tenant', order.tenant],
    ['worker', session.owner],
    ['epoch', String(session.epoch)],
    ['turns', String(session.turns)],
    ['cost', `$${session.spentUsd.toFixed(4)}`],
    ['repository', order.repository ?? ''],
    [
      'snapshot',
      snapshot === undefined ? '' : `turn ${snapshot.turn}, ${snapshot.commit.slice(0, 12)}`,
    ],
    ['questions', facts.asks === 0 ? '' : `${facts.asks} open: portcullis fleet inbox`],
    ['calls without a result', facts.unknown === 0 ? '' : String(facts.unknown)],
    [
      'receipts',
      facts.chain === undefined
        ? ''
        : facts.chain.ok
          ? 'the chain is whole'
          : 'THE CHAIN IS BROKEN',
    ],
  ];
  return rows
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${visible(value ?? '')}\n`)
    .join('');
}

const cancel: CommandSpec = {
  summary: 'End a session for good.',
  arguments: [SESSION_ARGUMENT],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet cancel');
      const { order } = await findSession(fleet, call.args[0] ?? '');
      const isCancelled = await fleet.cancel(order.id);
      call.output.out(
        isCancelled ? `Cancelled ${order.id}.\n` : `${order.id} was cancelled already.\n`,
      );
      return EXIT.done;
    }),
};

const workers: CommandSpec = {
  summary: 'List the workers.',
  options: [JSON_OPTION],
  run: (call) =>
    withFleet(async (fleet) => {
      const rows = await fleet.workers();
      if (call.options.json === true) printJson(call, rows);
      else if (rows.length === 0) call.output.out('No workers. Start one: portcullis worker\n');
      else {
        const cells = rows.map((row) => [
          row.id.slice(0, 8),
          visible(row.host),
          String(row.pid),
          `${row.running}/${row.slots}`,
          row.lost ? 'LOST' : row.draining ? 'draining' : 'ok',
          `${Math.round(row.beatAgoMs / 1000)}s`,
          visible(row.labels.join(',')),
          visible(row.tenant ?? ''),
          visible(row.version),
        ]);
        call.output.out(
          `${table([['ID', 'HOST', 'PID', 'SLOTS', 'STATE', 'BEAT', 'LABELS', 'TENANT', 'VERSION'], ...cells])}\n`,
        );
      }
      return EXIT.done;
    }),
};

const migrate: CommandSpec = {
  summary: 'Create the tables of the database, or bring them up to date.',
  async run(call) {
    refuseAgent('fleet migrate');
    const { migrateFleet } = await import('../../../fleet/open.js');
    const { SCHEMA_VERSION } = await import('../../../fleet/postgres/migrations.js');
    const from = await migrateFleet(process.env);
    call.output.out(
      from === SCHEMA_VERSION
        ? `The schema is version ${from} already.\n`
        : `Migrated from version ${from} to ${SCHEMA_VERSION}.\n`,
    );
    return EXIT.done;
  },
};

const group = commandGroup('Sessions that a pool of workers drives.', {
  submit,
  send,
  list,
  show,
  cancel,
  workers,
  migrate,
});

export const command: CommandSpec = {
  ...group,
  subcommands: {
    ...group.subcommands,
    attach: {
      summary: 'Follow a session live, answer and send messages.',
      load: () => import('./fleet-attach.js'),
    },
    inbox: {
      summary: 'List and answer questions of all sessions.',
      load: () => import('./fleet-inbox.js'),
    },
    limits: {
      summary: 'Show and set limits of tenants and models.',
      load: () => import('./fleet-limits.js'),
    },
    schedule: {
      summary: 'Submit sessions at set times.',
      load: () => import('./fleet-schedule.js'),
    },
  },
};
