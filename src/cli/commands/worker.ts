import { PortcullisError } from '../../errors.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { refuseAgent } from './person.js';
import { listOption, numberOption, textOption } from './project-call.js';

export const command: CommandSpec = {
  summary: 'Drive sessions of the fleet on this machine.',
  options: [
    { flags: '--slots <number>', description: 'Sessions at the same time (default: 2).' },
    { flags: '--label <label...>', description: 'A label of this worker, such as gpu.' },
    { flags: '--tenant <name>', description: 'Work for this tenant alone.' },
    {
      flags: '--root <directory>',
      description: 'Clones and workspaces; the same on every machine.',
    },
    { flags: '--snapshots <repository>', description: 'The git repository that keeps snapshots.' },
    { flags: '--setup <program>', description: 'Runs in each new workspace.' },
    {
      flags: '--ignored <policy>',
      description: 'Whether snapshots hold files that git ignores.',
      choices: ['skip', 'keep'],
      default: 'skip',
    },
    {
      flags: '--max-turns <number>',
      description: 'Turns before others get the slot (default: 20).',
    },
    {
      flags: '--grace <seconds>',
      description: 'How long a question keeps its slot (default: 60).',
    },
    {
      flags: '--deadline <seconds>',
      description: 'Silence after which a worker is taken for dead (default: 15).',
    },
    { flags: '--drain <seconds>', description: 'Time for turns to end at SIGTERM (default: 60).' },
    { flags: '--health <[host:]port>', description: 'Serve /healthz and /metrics there.' },
  ],
  notes: 'PORTCULLIS_FLEET names the fleet: postgres://… or a directory.',
  async run({ options, output }) {
    // fail-closed: a worker grants what its orders say, so no agent starts one.
    refuseAgent('worker');
    const number = (name: string, usual: number, max: number): number =>
      numberOption(options, name, { min: name === 'slots' ? 1 : 0, max }) ?? usual;
    const { host, port } = healthAddress(textOption(options, 'health'));
    const { runWorker } = await import('../../fleet/worker/run-worker.js');
    const end = await runWorker({
      env: process.env,
      labels: listOption(options, 'label'),
      slots: number('slots', 2, 1_000),
      tenant: textOption(options, 'tenant'),
      root: textOption(options, 'root'),
      snapshots: textOption(options, 'snapshots'),
      setup: textOption(options, 'setup'),
      ignored: options.ignored === 'keep' ? 'keep' : 'skip',
      maxTurns: number('maxTurns', 20, 100_000) || 1,
      graceSeconds: number('grace', 60, 86_400),
      deadlineSeconds: Math.max(1, number('deadline', 15, 3_600)),
      drainSeconds: number('drain', 60, 86_400),
      healthPort: port,
      healthHost: host,
      write: (line) => output.out(line),
      onStart(drain) {
        process.on('SIGTERM', drain);
        process.on('SIGINT', drain);
      },
    });
    return end === 'lost' ? EXIT.error : EXIT.done;
  },
};

function healthAddress(text: string | undefined): { host: string; port: number | undefined } {
  if (text === undefined) return { host: '', port: undefined };
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = digits === '' ? Number.NaN : Number(digits);
  if (port <= 65_535) return { host, port };
  throw new PortcullisError('usage', `--health: "${text}" is no port`, {
    remedy: 'give a port, or an address and a port: 0.0.0.0:9464',
  });
}
