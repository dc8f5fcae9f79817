import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { join } from '../../platform/fs/paths.js';
import { teamFiles } from './host/files.js';
import {
  LEAD,
  readTeamRecord,
  type TeamMember,
  type TeamRecord,
  teamNameProblem,
} from './records.js';

/** Opens a team by name below `<config>/teams`. fail-closed: a name that leads elsewhere is refused. */
export function openTeam(teams: string, name: string): Result<Team, string> {
  const problem = teamNameProblem(name);
  return problem === undefined ? ok(new Team(teams, name)) : err(problem);
}

/** A team on disk; every change is atomic and locked against other processes. */
export class Team {
  readonly name: string;
  readonly directory: string;
  readonly #teams: string;
  readonly #file: string;

  constructor(teams: string, name: string) {
    this.name = name;
    this.#teams = teams;
    this.directory = join(teams, name);
    this.#file = join(this.directory, 'config.json');
  }

  /** An error: there is no team, or its record is unreadable. */
  read(): Result<TeamRecord, string> {
    return this.#look() ?? err(`there is no team "${this.name}"`);
  }

  /** Creates the team, or opens it again for the same lead. */
  create(lead: TeamRecord['lead'], now: number): Promise<Result<TeamRecord, string>> {
    return this.#locked(() => {
      // fail-closed: a team with an unreadable record is not replaced, because its members are unknown.
      const found = this.#look() ?? ok({ name: this.name, createdAt: now, lead, members: [] });
      if (!found.ok) return found;
      const { lead: before, members } = found.value;
      // fail-closed: a session does not take over a team that another one leads.
      if (before.sessionId !== lead.sessionId) {
        return err(`the team "${this.name}" is led by another session, ${before.sessionId}`);
      }
      if (before.process.pid !== lead.process.pid && teamFiles.isAlive(before.process)) {
        return err(`the team "${this.name}" is led by another process, ${before.process.pid}`);
      }
      const states = members.map((one) =>
        isRunningMember(one) ? one : { ...one, state: 'ended' as const },
      );
      return ok(this.#save({ ...found.value, lead, members: states }));
    });
  }

  /** Fails when a running member has the name. */
  join(member: TeamMember): Promise<Result<TeamRecord, string>> {
    return this.#edit((record) => {
      const same = record.members.find((one) => sameName(one.name, member.name));
      if (same !== undefined && isRunningMember(same)) {
        return err(`there is a teammate "${same.name}" already`);
      }
      return ok([...record.members.filter((one) => one !== same), member]);
    });
  }

  async change(
    name: string,
    change: (member: TeamMember) => TeamMember,
  ): Promise<Result<TeamMember | undefined, string>> {
    const done = await this.#edit(({ members }) =>
      ok(members.map((one) => (one.name === name ? change(one) : one))),
    );
    return done.ok ? ok(done.value.members.find((one) => one.name === name)) : done;
  }

  /** Fails while a member is running. */
  async remove(): Promise<Result<undefined, string>> {
    const record = await this.#locked(() => this.read());
    if (!record.ok) return record;
    const living = record.value.members.filter(isRunningMember).map(({ name }) => name);
    if (living.length > 0) {
      return err(`${living.join(', ')} still work in it: ask them to stop first`);
    }
    try {
      teamFiles.remove(this.directory);
      return ok(undefined);
    } catch (thrown) {
      return err(`${this.directory} cannot be removed: ${messageOf(thrown)}`);
    }
  }

  #look(): Result<TeamRecord, string> | undefined {
    const found = teamFiles.readOwn(this.#file);
    if (found === undefined) return undefined;
    const unusable = (why: string) =>
      err(`the team "${this.name}" cannot be used: ${this.#file}: ${why}`);
    if (!found.ok) return unusable(found.error);
    const record = readTeamRecord(found.value, this.name);
    return record === undefined ? unusable('it does not describe this team') : ok(record);
  }

  #save(record: TeamRecord): TeamRecord {
    teamFiles.keep(this.#file, `${JSON.stringify(record, null, 2)}\n`);
    return record;
  }

  #edit(
    membersOf: (record: TeamRecord) => Result<readonly TeamMember[], string>,
  ): Promise<Result<TeamRecord, string>> {
    return this.#locked(() => {
      const record = this.read();
      if (!record.ok) return record;
      const members = membersOf(record.value);
      return members.ok ? ok(this.#save({ ...record.value, members: members.value })) : members;
    });
  }

  async #locked<T>(work: () => Result<T, string>): Promise<Result<T, string>> {
    const problem = teamFiles.ownDirectory(this.#teams) ?? teamFiles.ownDirectory(this.directory);
    if (problem !== undefined) return err(problem);
    const done = await teamFiles.exclusive(join(this.directory, 'config.lock'), work);
    return done.ok ? done.value : done;
  }
}

/** Whether a member is running and reads its mail. */
export function isRunningMember({ state, process }: TeamMember): boolean {
  return state !== 'ended' && teamFiles.isAlive(process);
}

export function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** All names in a team, the lead first. */
export function namesOf({ members }: Pick<TeamRecord, 'members'>): readonly string[] {
  return [LEAD, ...members.map(({ name }) => name)];
}

/** A team's members, for people. */
export interface TeamView {
  readonly name: string;
  /** Whether the lead is running. */
  readonly isLed: boolean;
  readonly leadSessionId: string;
  readonly cwd: string;
  readonly members: readonly Omit<TeamMember, 'process' | 'joinedAt' | 'cwd'>[];
}

export function viewTeam(team: Team): Result<TeamView, string> {
  const record = team.read();
  if (!record.ok) return record;
  const { name, lead, members } = record.value;
  return ok({
    name,
    isLed: teamFiles.isAlive(lead.process),
    leadSessionId: lead.sessionId,
    cwd: lead.cwd,
    members: members.map((member) => {
      const { process: _process, joinedAt: _joinedAt, cwd: _cwd, ...view } = member;
      return { ...view, state: isRunningMember(member) ? member.state : 'ended' };
    }),
  });
}

/** All teams of this user, and unusable entries in their directory. */
export function listTeams(configDir: string): {
  readonly teams: readonly TeamView[];
  readonly problems: readonly string[];
} {
  const directory = join(configDir, 'teams');
  const teams: TeamView[] = [];
  const problems: string[] = [];
  for (const name of teamFiles.list(directory)) {
    const team = openTeam(directory, name);
    const view = team.ok ? viewTeam(team.value) : team;
    if (view.ok) teams.push(view.value);
    else problems.push(`${name}: ${view.error}`);
  }
  return { teams, problems };
}
