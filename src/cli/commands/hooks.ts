import { PortcullisError } from '../../errors.js';
import { nearest } from '../../util/nearest.js';
import type { Output } from '../output.js';

interface HooksCommand {
  readonly help: string;
  load(): Promise<{ run(argv: readonly string[], output: Output): Promise<number> }>;
}

const SUBCOMMANDS: ReadonlyMap<string, HooksCommand> = new Map<string, HooksCommand>([
  [
    'list',
    {
      help: '[--event E]       the hooks in force, and those that are skipped and why',
      load: () => import('./hooks-list.js'),
    },
  ],
  [
    'test',
    {
      help: '<event>           ask the hooks of an event really, and show what would follow',
      load: () => import('./hooks-test.js'),
    },
  ],
  [
    'probe',
    {
      help: '[--all]          ask every guard once, and prove that it answers in time',
      load: () => import('./hooks-probe.js'),
    },
  ],
]);

/** `portcullis hooks <list|test|probe>`: tools for authors of hooks. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    output.out(usage());
    return name === undefined ? 2 : 0;
  }
  const subcommand = SUBCOMMANDS.get(name);
  if (subcommand !== undefined) return await (await subcommand.load()).run(rest, output);
  const meant = nearest(name, SUBCOMMANDS.keys());
  throw new PortcullisError('usage', `hooks has no subcommand "${name}"`, {
    remedy: meant === undefined ? usage() : `did you mean: portcullis hooks ${meant}`,
  });
}

function usage(): string {
  const lines = [...SUBCOMMANDS].map(([name, { help }]) => `  portcullis hooks ${name} ${help}`);
  return `usage:\n${lines.join('\n')}\n`;
}
