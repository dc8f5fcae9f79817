import { listTeams } from '../../agents/team-view.js';
import { configDirectory } from '../../env/paths.js';
import { nodeTeamFiles } from '../../env/team-files.js';
import { PortcullisError } from '../../errors.js';
import { teamLines } from '../../project/teams-text.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis agents teams [--json]';

/** Shows the teams of this user and who is in them. Nothing is changed. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  if (words.length > 0) {
    throw new PortcullisError('usage', `agents teams takes no "${visible(words[0] ?? '')}"`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const { teams, problems } = listTeams(nodeTeamFiles, configDirectory(process.env));
  if (switches.has('json')) output.out(`${JSON.stringify({ teams, problems }, null, 2)}\n`);
  else {
    const lines = teams.flatMap(teamLines);
    output.out(lines.length === 0 ? 'There are no teams.\n' : `${lines.join('\n')}\n`);
    for (const problem of problems) output.warn(visible(problem));
  }
  return EXIT.done;
}
