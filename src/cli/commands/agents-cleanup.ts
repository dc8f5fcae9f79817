import { openTeam } from '../../agents/team.js';
import { configDirectory, join } from '../../env/paths.js';
import { nodeTeamFiles } from '../../env/team-files.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis agents cleanup <team>';

/** Takes away what a team has left behind whose lead is gone. Its list of tasks stays. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words } = readArguments(argv, { usage: USAGE });
  const [name, more] = words;
  if (name === undefined || more !== undefined) {
    throw new PortcullisError('usage', 'name one team', { remedy: `usage: ${USAGE}` });
  }
  const directory = join(configDirectory(process.env), 'teams');
  const team = openTeam({ files: nodeTeamFiles, directory, name });
  const record = team.ok ? team.value.read() : team;
  if (!team.ok || !record.ok) {
    throw new PortcullisError('usage', visible(record.ok ? '' : record.error));
  }
  // fail-closed: whoever leads it may start somebody at any moment.
  if (nodeTeamFiles.isAlive(record.value.lead.process)) {
    throw new PortcullisError('usage', `the lead of ${name} is still there`, {
      remedy: 'end the session that leads it: the team goes with it',
    });
  }
  const removed = await team.value.remove();
  if (!removed.ok) throw new PortcullisError('usage', visible(removed.error));
  output.out(`The team ${name} is gone.\n`);
  return EXIT.done;
}
