import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { join } from '../../platform/fs/paths.js';
import type { TeamFiles } from './host/files.js';
import {
  LEAD,
  readTeamRecord,
  type TeamMember,
  type TeammateState,
  type TeammateWay,
  type TeamRecord,
  teamNameProblem,
} from './records.js';

export interface TeamParts {
  readonly files: TeamFiles;
  /** `<config>/teams`. */
  readonly directory: string;
  readonly name: string;
}

/** A team on the disk. Every change is made by one process at a time, and whole. */
export interface Team {
  readonly name: string;
  readonly directory: string;
  /** An error: there is none, or nobody can tell who is in it. */
  read(): Result<TeamRecord, string>;
  /** Makes the team, or takes it up again for the same lead. */
  create(lead: TeamRecord['lead'], now: number): Promise<Result<TeamRecord, string>>;
  /** An error: the name is taken by one who lives. */
  join(member: TeamMember): Promise<Result<undefined, string>>;
  /** Undefined: it is not in the team. */
  change(
    name: string,
    change: (member: TeamMember) => TeamMember,
  ): Promise<Result<TeamMember | undefined, string>>;
  /** An error: somebody still works in it. */
  remove(): Promise<Result<undefined, string>>;
  /** Whether a member is there to read what is sent to it. */
  isLiving(member: TeamMember): boolean;
}

export function openTeam({ files, directory: teams, name }: TeamParts): Result<Team, string> {
  // fail-closed: a name that leads out of the directory is none.
  const problem = teamNameProblem(name);
  if (problem !== undefined) return err(problem);
  const directory = join(teams, name);
  const file = join(directory, 'config.json');
  const look = (): Result<TeamRecord, string> | undefined => {
    const found = files.readOwn(file);
    if (found === undefined) return undefined;
    const record = found.ok ? readTeamRecord(found.value, name) : found;
    return record.ok ? record : err(`the team "${name}" cannot be used: ${file}: ${record.error}`);
  };
  const read = (): Result<TeamRecord, string> => look() ?? err(`there is no team "${name}"`);
  const save = (record: TeamRecord): void =>
    files.keep(file, `${JSON.stringify(record, null, 2)}\n`);
  const locked = async <T>(work: () => Result<T, string>): Promise<Result<T, string>> => {
    const outer = files.ownDirectory(teams) ?? files.ownDirectory(directory);
    if (outer !== undefined) return err(outer);
    const done = await files.exclusive(join(directory, 'config.lock'), work);
    return done.ok ? done.value : done;
  };
  const isLiving = (member: TeamMember): boolean =>
    member.state !== 'ended' && files.isAlive(member.process);
  return ok({
    name,
    directory,
    read,
    isLiving,
    create: (lead, now) =>
      locked(() => created({ look, save, files, isLiving }, { lead, now, name })),
    join: (member) =>
      locked(() => {
        const record = read();
        if (!record.ok) return record;
        const { members } = record.value;
        const same = members.find((one) => sameName(one.name, member.name));
        if (same !== undefined && isLiving(same)) {
          return err(`there is a teammate "${same.name}" already`);
        }
        save({ ...record.value, members: [...members.filter((one) => one !== same), member] });
        return ok(undefined);
      }),
    change: (who, change) =>
      locked(() => {
        const record = read();
        if (!record.ok) return record;
        const member = record.value.members.find((one) => one.name === who);
        if (member === undefined) return ok(undefined);
        const next = change(member);
        const members = record.value.members.map((one) => (one === member ? next : one));
        save({ ...record.value, members });
        return ok(next);
      }),
    async remove() {
      const living = await locked(() => {
        const record = read();
        if (!record.ok) return record;
        return ok(record.value.members.filter(isLiving).map((one) => one.name));
      });
      if (!living.ok) return living;
      if (living.value.length > 0) {
        return err(`${living.value.join(', ')} still work in it: ask them to stop first`);
      }
      return removed(files, directory);
    },
  });
}

function removed(files: TeamFiles, directory: string): Result<undefined, string> {
  try {
    files.remove(directory);
    return ok(undefined);
  } catch (thrown) {
    return err(`${directory} cannot be removed: ${messageOf(thrown)}`);
  }
}

interface Making {
  /** Undefined: there is no such team yet. */
  look(): Result<TeamRecord, string> | undefined;
  save(record: TeamRecord): void;
  readonly files: TeamFiles;
  isLiving(member: TeamMember): boolean;
}

function created(
  { look, save, files, isLiving }: Making,
  { lead, now, name }: { lead: TeamRecord['lead']; now: number; name: string },
): Result<TeamRecord, string> {
  const found = look();
  if (found === undefined) {
    const record: TeamRecord = { name, createdAt: now, lead, members: [] };
    save(record);
    return ok(record);
  }
  // fail-closed: who is in a team that cannot be read, nobody can tell, so none takes its place.
  if (!found.ok) return found;
  const { value: record } = found;
  // fail-closed: nobody takes over what another session leads.
  if (record.lead.sessionId !== lead.sessionId) {
    return err(`the team "${name}" is led by another session, ${record.lead.sessionId}`);
  }
  const isOurs = record.lead.process.pid === lead.process.pid;
  if (!isOurs && files.isAlive(record.lead.process)) {
    return err(`the team "${name}" is led by another process, ${record.lead.process.pid}`);
  }
  const members = record.members.map((member) =>
    isLiving(member) ? member : { ...member, state: 'ended' as const },
  );
  const next = { ...record, lead, members };
  save(next);
  return ok(next);
}

export function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Everybody in a team, the lead first. */
export function namesOf({ members }: Pick<TeamRecord, 'members'>): readonly string[] {
  return [LEAD, ...members.map(({ name }) => name)];
}

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
