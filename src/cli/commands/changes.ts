import type { Change } from '../../checkpoint/types.js';
import { actionOf, authorsText, changesText } from '../../project/changes-text.js';
import { visible, visibleText } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { journalHere } from './changes-here.js';

export const USAGE =
  'portcullis changes [--session id] [--turn message] [--call id] [--agent name] [--diff] [--json]';

/** Prints what a session changed, and who did it. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'diff'],
    values: ['session', 'turn', 'call', 'agent'],
  });
  const { sessionId, journal } = await journalHere(values.get('session'), output);
  try {
    const turn = values.get('turn');
    const call = values.get('call');
    const agent = values.get('agent');
    const changes = await journal.changes({
      ...(turn === undefined ? {} : { messageId: turn }),
      ...(call === undefined ? {} : { toolUseId: call }),
      ...(agent === undefined ? {} : { agent }),
    });
    if (switches.has('json')) {
      output.out(`${JSON.stringify({ session: sessionId, changes: changes.map(row) })}\n`);
    } else if (switches.has('diff')) {
      for (const change of changes) {
        const head = `# ${actionOf(change)} ${change.path}: ${authorsText(change.authors)}`;
        output.out(`${visible(head)}\n`);
        output.out(visibleText((await journal.diff(change)) ?? ''));
      }
    } else {
      output.out(`session ${sessionId}\n${changesText(changes)}`);
    }
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

function row(change: Change): Readonly<Record<string, unknown>> {
  return { action: actionOf(change), ...change };
}
