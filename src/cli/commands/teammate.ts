import { realpathSync } from 'node:fs';
import { openTeam } from '../../agents/team.js';
import type { TeamRole } from '../../agents/team-role.js';
import { memberOf, takeLaunch } from '../../agents/teammate-launch.js';
import { configDirectory, join } from '../../env/paths.js';
import { nodeTeamFiles } from '../../env/team-files.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { parseArgs } from '../args.js';

/** A program that was started as a teammate: all its words, and what it is. */
export interface AsTeammate {
  readonly argv: readonly string[];
  readonly role: Extract<TeamRole, { readonly kind: 'member' }>;
}

/** What belongs to the pane and not to whoever opened it. */
const OF_THE_PANE = /^(?:TMUX|TMUX_PANE|TERM|TERM_PROGRAM.*|COLORTERM|ITERM_.*|COLUMNS|LINES)$/;

/**
 * Takes what the lead has left for this process: its environment and the rest of its flags.
 * fail-closed: flags alone make nobody a teammate.
 */
export function asTeammate(argv: readonly string[]): AsTeammate {
  const args = parseArgs(argv);
  if (!args.ok) throw refused(args.error);
  const { switches, values } = args.value;
  const one = (name: string): string => {
    const value = values.get(name)?.at(-1);
    if (value === undefined) throw refused(`--${name} is missing`);
    return value;
  };
  if (switches.has('print') || values.has('input-format')) {
    throw refused('teammates converse; they do not run with -p');
  }
  const identity = {
    team: one('team-name'),
    name: one('agent-name'),
    agentId: one('agent-id'),
    leadSessionId: one('parent-session-id'),
  };
  const directory = join(configDirectory(process.env), 'teams');
  const team = openTeam({ files: nodeTeamFiles, directory, name: identity.team });
  if (!team.ok) throw refused(team.error);
  const member = memberOf(team.value, identity);
  if (!member.ok) throw refused(member.error);
  const { planRequired } = member.value;
  const plans = values.get('permission-mode')?.at(-1) === 'plan';
  // fail-closed: the team knows who must plan first, whatever the flags say.
  if (planRequired && (!plans || switches.has('dangerously-skip-permissions'))) {
    throw refused(`${identity.name} must plan first: it starts in the mode plan`);
  }
  const launch = takeLaunch(nodeTeamFiles, team.value, identity);
  if (!launch.ok) throw refused(launch.error);
  const { env, leadMode, cwd, args: more } = launch.value;
  // fail-closed: elsewhere other rules hold than those that the lead works under.
  if (!isHere(cwd)) throw refused(`it was to start in ${visible(cwd)}, and is somewhere else`);
  takeOver(env);
  return { argv: [...more, ...argv], role: { kind: 'member', identity, planRequired, leadMode } };
}

function isHere(directory: string): boolean {
  try {
    return realpathSync(process.cwd()) === realpathSync(directory);
  } catch {
    // One of them is gone.
    return false;
  }
}

function takeOver(env: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) {
    if (!OF_THE_PANE.test(name)) delete process.env[name];
  }
  for (const [name, value] of Object.entries(env)) {
    if (!OF_THE_PANE.test(name)) process.env[name] = value;
  }
}

function refused(why: string): PortcullisError {
  return new PortcullisError('usage', `this is no teammate: ${why}`, {
    remedy: 'teammates are started by the session that leads them',
  });
}
