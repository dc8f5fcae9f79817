import { isRunByAgent } from '../../env/run-by-agent.js';
import { PortcullisError } from '../../errors.js';

/** fail-closed: what grants something or answers a question is a person's act, never an agent's. */
export function refuseAgent(command: string): void {
  if (!isRunByAgent(process.env)) return;
  throw new PortcullisError('denied', `only a person may run ${command}, and an agent runs this`, {
    remedy: 'run it in a terminal of your own',
  });
}
