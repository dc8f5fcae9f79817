import { PortcullisError } from '../../../errors.js';
import { table } from '../../../lib/table.js';
import { visible } from '../../../lib/text/visible.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { refuseAgent } from '../person.js';
import { JSON_OPTION, numberOption, printJson } from '../project-call.js';
import { withFleet } from './fleet-call.js';

const tenant: CommandSpec = {
  summary: 'Set the limits of a tenant; those not named are taken away.',
  arguments: [{ name: '<tenant>', description: 'Its name.' }],
  options: [
    { flags: '--concurrency <number>', description: 'Sessions at the same time.' },
    { flags: '--rate <number>', description: 'Drives that start within a minute.' },
    { flags: '--budget <dollars>', description: 'What all its sessions may cost.' },
    { flags: '--reserve <dollars>', description: 'Set aside before a drive starts (default: 1).' },
  ],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet limits');
      const [name = ''] = call.args;
      await fleet.setTenant(name, {
        concurrency: numberOption(call.options, 'concurrency', {
          min: 0,
          max: 100_000,
          whole: true,
        }),
        ratePerMinute: numberOption(call.options, 'rate', { min: 0.001, max: 100_000 }),
        budgetUsd: numberOption(call.options, 'budget', { min: 0, max: 1e9 }),
        reserveUsd: numberOption(call.options, 'reserve', { min: 0, max: 1e6 }),
      });
      call.output.out(`Limits of ${visible(name)} are set.\n`);
      return EXIT.done;
    }),
};

const model: CommandSpec = {
  summary: 'Set the requests a minute that all workers together make.',
  arguments: [
    { name: '<model>', description: "The model's name, or * for all." },
    { name: '<per-minute>', description: 'A number, or none.' },
  ],
  run: (call) =>
    withFleet(async (fleet) => {
      refuseAgent('fleet limits');
      const [name = '', text = ''] = call.args;
      const perMinute = text === 'none' ? null : Number(text);
      if (perMinute !== null && !(perMinute > 0 && perMinute < 1e6)) {
        throw new PortcullisError('usage', `"${visible(text)}" is no rate`, {
          remedy: 'a number, or none',
        });
      }
      await fleet.setRate(`model:${name}`, perMinute);
      call.output.out(
        perMinute === null
          ? `${visible(name)} has no limit.\n`
          : `${visible(name)}: ${perMinute} requests a minute.\n`,
      );
      return EXIT.done;
    }),
};

export const command: CommandSpec = {
  summary: 'Show and set limits of tenants and models.',
  options: [JSON_OPTION],
  subcommands: {
    tenant: { summary: tenant.summary, load: async () => ({ command: tenant }) },
    model: { summary: model.summary, load: async () => ({ command: model }) },
  },
  run: (call) =>
    withFleet(async (fleet) => {
      const rows = await fleet.tenants();
      const shown = (value: number | null | undefined): string =>
        value == null ? '-' : String(value);
      if (call.options.json === true) printJson(call, rows);
      else {
        const cells = rows.map((row) => [
          visible(row.name),
          `${row.running}/${shown(row.concurrency)}`,
          String(row.ready),
          shown(row.ratePerMinute),
          `$${row.spentUsd.toFixed(2)}/${shown(row.budgetUsd)}`,
        ]);
        call.output.out(`${table([['TENANT', 'RUNNING', 'READY', 'RATE', 'SPENT'], ...cells])}\n`);
      }
      return EXIT.done;
    }),
};
