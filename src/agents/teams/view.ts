import { err, ok, type Result } from '../../lib/result.js';
import { join } from '../../platform/fs/paths.js';
import type { TeamFiles } from './host/files.js';
import type { TeamMember, TeammateState, TeammateWay } from './records.js';
import { openTeam, type Team } from './team.js';

/** Who is who in a team, for people. */
export interface TeamView {
  readonly name: string;
  /** Whether the lead is there. */
  readonly isLed: boolean;
  readonly leadSessionId: string;
  readonly cwd: string;
  readonly members: readonly MemberView[];
}

export interface MemberView {
  readonly name: string;
  readonly agentId: string;
  readonly agentType: string;
  readonly description: string;
  readonly way: TeammateWay;
  readonly state: TeammateState;
  readonly planRequired: boolean;
  readonly model: string;
  readonly pane?: string;
  readonly sessionId?: string;
}

export function viewTeam(files: Pick<TeamFiles, 'isAlive'>, team: Team): Result<TeamView, string> {
  const record = team.read();
  if (!record.ok) return record;
  const { name, lead, members } = record.value;
  return ok({
    name,
    isLed: files.isAlive(lead.process),
    leadSessionId: lead.sessionId,
    cwd: lead.cwd,
    members: members.map((member) => memberView(member, team.isLiving(member))),
  });
}

function memberView(member: TeamMember, isLiving: boolean): MemberView {
  const { process: _process, joinedAt: _joinedAt, cwd: _cwd, ...view } = member;
  return { ...view, state: isLiving ? member.state : 'ended' };
}

/** All teams of this user, and what lies there and cannot be used. */
export function listTeams(
  files: TeamFiles,
  configDir: string,
): { readonly teams: readonly TeamView[]; readonly problems: readonly string[] } {
  const directory = join(configDir, 'teams');
  const found = files.list(directory).map((name) => {
    const team = openTeam({ files, directory, name });
    const view = team.ok ? viewTeam(files, team.value) : team;
    return view.ok ? view : err(`${name}: ${view.error}`);
  });
  return {
    teams: found.flatMap((one) => (one.ok ? [one.value] : [])),
    problems: found.flatMap((one) => (one.ok ? [] : [one.error])),
  };
}
