import type { TeamRole } from '../agents/teams/records.js';
import { openTeam } from '../agents/teams/team.js';
import { memberOf, takeLaunch } from '../agents/teams/teammate-launch.js';
import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import { nodeFileSystem } from '../platform/fs/node-fs.js';
import { configDirectory, join } from '../platform/fs/paths.js';

export type TeammateRole = Extract<TeamRole, { readonly kind: 'member' }>;

/** What the command line of a teammate says. */
export interface TeammateFlags {
  readonly identity: TeammateRole['identity'];
  /** It starts in the mode `plan`, and nothing else lets it act. */
  readonly plansFirst: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface TeammateStart {
  readonly role: TeammateRole;
  /** The environment of the lead, which replaces that of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Flags that the lead left for this process. */
  readonly args: readonly string[];
}

/** Takes what the lead left for this process. fail-closed: flags alone make no process a teammate. */
export async function takeTeammateStart(flags: TeammateFlags): Promise<TeammateStart> {
  const { identity, plansFirst } = flags;
  const directory = join(configDirectory(flags.env), 'teams');
  const team = openTeam(directory, identity.team);
  if (!team.ok) throw notTeammate(team.error);
  const member = memberOf(team.value, identity);
  if (!member.ok) throw notTeammate(member.error);
  const { planRequired } = member.value;
  // fail-closed: the record of the team decides who must plan first, not the flags.
  if (planRequired && !plansFirst) {
    throw notTeammate(`${identity.name} must plan first: it starts in the mode plan`);
  }
  const launch = takeLaunch(team.value, identity);
  if (!launch.ok) throw notTeammate(launch.error);
  const { env, leadMode, cwd, args } = launch.value;
  // fail-closed: other rules apply in another directory than in that of the lead.
  if (!(await isSameDirectory(flags.cwd, cwd))) {
    throw notTeammate(`it must start in ${visible(cwd)}, and started somewhere else`);
  }
  return { env, args, role: { kind: 'member', identity, planRequired, leadMode } };
}

async function isSameDirectory(one: string, other: string): Promise<boolean> {
  try {
    return (await nodeFileSystem.realPath(one)) === (await nodeFileSystem.realPath(other));
  } catch {
    // One of them is gone.
    return false;
  }
}

export function notTeammate(why: string): PortcullisError {
  return new PortcullisError('usage', `cannot start as a teammate: ${why}`, {
    remedy: 'teammates are started by the session that leads them',
  });
}
