import { PortcullisError } from '../../errors.js';
import { nearest } from '../../util/nearest.js';
import { visible } from '../../util/visible.js';
import type { Output } from '../output.js';

interface SkillsCommand {
  readonly help: string;
  load(): Promise<{ run(argv: readonly string[], output: Output): Promise<number> }>;
}

const SUBCOMMANDS: ReadonlyMap<string, SkillsCommand> = new Map<string, SkillsCommand>([
  [
    'list',
    {
      help: '                 what was found, from where, and why some of it is not in force',
      load: () => import('./skills-list.js'),
    },
  ],
  [
    'show',
    {
      help: '<name>           head, text and files of a skill',
      load: () => import('./skills-show.js'),
    },
  ],
  [
    'validate',
    {
      help: '[paths]      hold skills against the specification',
      load: () => import('./skills-validate.js'),
    },
  ],
  [
    'test',
    {
      help: '<file>           ask a model which skill it takes for each prompt of a table',
      load: () => import('./skills-test.js'),
    },
  ],
]);

/** `portcullis skills <list|show|validate|test>`: tools for authors of skills. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    output.out(usage());
    return name === undefined ? 2 : 0;
  }
  const subcommand = SUBCOMMANDS.get(name);
  if (subcommand !== undefined) return await (await subcommand.load()).run(rest, output);
  const meant = nearest(name, SUBCOMMANDS.keys());
  throw new PortcullisError('usage', `skills has no subcommand "${visible(name)}"`, {
    remedy: meant === undefined ? usage() : `did you mean: portcullis skills ${meant}`,
  });
}

function usage(): string {
  const lines = [...SUBCOMMANDS].map(([name, { help }]) => `  portcullis skills ${name} ${help}`);
  return `usage:\n${lines.join('\n')}\n`;
}
