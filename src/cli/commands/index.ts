import type { Output } from '../output.js';

/** A subcommand: a reserved first word. Its file is loaded only when it is called. */
export interface Command {
  readonly help: string;
  load(): Promise<{ run(argv: readonly string[], output: Output): Promise<number> }>;
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'demo',
    {
      help: 'A whole session of the scripted model in a throw-away project; needs no key and no network',
      load: () => import('./demo.js'),
    },
  ],
]);
