import { err, ok, type Result } from '../../lib/result.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { TeamFiles } from './host/files.js';
import { type Mail, type Mailboxes, openMailboxes } from './mail.js';
import { openPost, type Post } from './mail-poller.js';
import { LEAD } from './names.js';
import type { TeamMember, TeamRecord } from './records.js';
import { namesOf, openTeam, type Team } from './team.js';
import type { Duty } from './teammate-protocol.js';

export interface DeskParts {
  readonly files: TeamFiles;
  /** `<config>/teams`. */
  readonly directory: string;
  readonly team: string;
  /** How the main agent of this process is called in it. */
  readonly self: string;
  uuid(): string;
  now(): number;
  warn(text: string): void;
}

/** The team as the agents of this process see it. */
export interface TeamClient {
  readonly team: Team;
  readonly self: string;
  readonly post: Post;
  readonly boxes: Mailboxes;
  /** What the teammates of this process are held to, by their names. */
  readonly duties: Map<string, Duty>;
  /** Plans that wait for the lead, by the names of those who made them. */
  readonly plans: Map<string, string>;
  /** How an agent is called in the team; undefined: it is not in it. */
  nameOf(agent: Pick<AgentRef, 'id'>): string | undefined;
  /** The agent with this id, of this process, is called so. Returns what ends it. */
  seat(agentId: string, name: string): () => void;
  /** Those who are there now. None where nobody can tell. */
  living(): readonly TeamMember[];
  record(): Result<TeamRecord, string>;
  /** It has been sent when this returns without an error, whatever happens then. */
  send(mail: Omit<Mail, 'id' | 'team' | 'at'>): Promise<Result<Mail, string>>;
  newRequest(): string;
}

export function openDesk(parts: DeskParts): Result<TeamClient, string> {
  const { files, self } = parts;
  const opened = openTeam({ files, directory: parts.directory, name: parts.team });
  if (!opened.ok) return opened;
  const team = opened.value;
  const boxes = openMailboxes({
    files,
    directory: team.directory,
    team: team.name,
    names() {
      const record = team.read();
      return record.ok ? ok(namesOf(record.value)) : record;
    },
  });
  const post = openPost({ boxes, uuid: parts.uuid, warn: parts.warn });
  const seats = new Map<string, string>([[MAIN_AGENT.id, self]]);
  const hex = (): string => parts.uuid().replaceAll('-', '');
  return ok({
    team,
    self,
    post,
    boxes,
    duties: new Map(),
    plans: new Map(),
    nameOf: ({ id }) => seats.get(id),
    seat(agentId, name) {
      seats.set(agentId, name);
      return () => void seats.delete(agentId);
    },
    living() {
      const record = team.read();
      return record.ok ? record.value.members.filter(team.isLiving) : [];
    },
    record: () => team.read(),
    async send(wanted) {
      const record = team.read();
      if (!record.ok) return record;
      const { members } = record.value;
      const reader = members.find(({ name }) => name === wanted.to);
      if (wanted.to !== LEAD && reader === undefined) {
        return err(`there is no "${wanted.to}" in the team`);
      }
      // fail-closed: nobody is told that a message was sent which nobody will read.
      if (reader !== undefined && !team.isLiving(reader)) return err(`${reader.name} has ended`);
      const mail: Mail = {
        ...wanted,
        id: `m${hex().slice(0, 16)}`,
        team: team.name,
        at: parts.now(),
      };
      const sent = await boxes.send(mail);
      if (!sent.ok) return sent;
      post.nudge(mail.to);
      return ok(mail);
    },
    newRequest: () => `r${hex().slice(0, 12)}`,
  });
}
