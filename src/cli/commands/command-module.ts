import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';

/** What the file of a command offers. */
export interface CommandModule {
  /** How it is called. Absent for commands that lead to others and list them themselves. */
  readonly USAGE?: string;
  run(argv: readonly string[], output: Output): Promise<number>;
}

/** Runs a command, or says how it is called when that is what was asked for. */
export async function runModule(
  { USAGE, run }: CommandModule,
  argv: readonly string[],
  output: Output,
): Promise<number> {
  const [first] = argv;
  // Only as the first word: behind others it may be a word of a call, or an option of a command to run.
  if (USAGE === undefined || (first !== '--help' && first !== '-h')) return await run(argv, output);
  output.out(`usage: ${USAGE}\n`);
  return EXIT.done;
}
