import { PortcullisError } from '../../errors.js';
import { nearest } from '../../util/nearest.js';
import type { Output } from '../output.js';

interface PolicyCommand {
  readonly help: string;
  load(): Promise<{ run(argv: readonly string[], output: Output): Promise<number> }>;
}

const SUBCOMMANDS: ReadonlyMap<string, PolicyCommand> = new Map<string, PolicyCommand>([
  [
    'check',
    {
      help: '--jsonl            judge one call a line from standard input, for machines',
      load: () => import('./policy-check.js'),
    },
  ],
  [
    'test',
    {
      help: '[files]             run the table tests that are kept beside the settings',
      load: () => import('./policy-test.js'),
    },
  ],
  [
    'diff',
    {
      help: 'A B                 show which calls two sets of settings judge differently',
      load: () => import('./policy-diff.js'),
    },
  ],
  [
    'replay',
    {
      help: '                  judge the calls of recorded sessions again',
      load: () => import('./policy-replay.js'),
    },
  ],
]);

/** `portcullis policy <check|test|diff|replay>`: questions to the gate, without a session. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    output.out(usage());
    return name === undefined ? 2 : 0;
  }
  const subcommand = SUBCOMMANDS.get(name);
  if (subcommand !== undefined) return await (await subcommand.load()).run(rest, output);
  const meant = nearest(name, SUBCOMMANDS.keys());
  throw new PortcullisError('usage', `policy has no subcommand "${name}"`, {
    remedy: meant === undefined ? usage() : `did you mean: portcullis policy ${meant}`,
  });
}

function usage(): string {
  const lines = [...SUBCOMMANDS].map(([name, { help }]) => `  portcullis policy ${name} ${help}`);
  return `usage:\n${lines.join('\n')}\n`;
}
