import { PortcullisError } from '../../errors.js';
import { isRunByAgent } from '../../platform/process/run-by-agent.js';
import { confirmAtTerminal, hasTerminal } from '../ask.js';
import type { CommandCall, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';

export const YES_OPTION: OptionSpec = {
  flags: '-y, --yes',
  description: 'Accept without a question.',
};

/** fail-closed: only a person grants something or answers a question, never an agent. */
export function refuseAgent(command: string): void {
  if (!isRunByAgent(process.env)) return;
  throw new PortcullisError('denied', `only a person may run ${command}, and an agent runs this`, {
    remedy: 'run it in a terminal of your own',
  });
}

/** Asks the person at the terminal, unless `--yes` has answered. fail-closed: a pipe answers nothing. */
export async function confirmed(
  { options }: CommandCall,
  question: string,
  { refused, remedy }: { readonly refused: string; readonly remedy: string },
): Promise<boolean> {
  if (options.yes === true) return true;
  if (options.json === true || !hasTerminal()) {
    throw new PortcullisError('config', `${refused}: there is no terminal to ask on`, { remedy });
  }
  return await confirmAtTerminal(question);
}

/** Passes Ctrl+C on as a signal, so that a command ends its children and still prints what is known. */
export async function interruptible(
  use: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  try {
    const code = await use(controller.signal);
    return controller.signal.aborted ? EXIT.interrupted : code;
  } finally {
    process.off('SIGINT', interrupt);
  }
}
