import { err, ok, type Result } from '../../lib/result.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { Duty } from './duty.js';
import { type Mail, Mailboxes } from './mail.js';
import { MailDelivery } from './mail-delivery.js';
import { LEAD, type TeamMember, type TeamRecord } from './records.js';
import { isRunningMember, openTeam, type Team } from './team.js';

export interface TeamClientParts {
  /** `<config>/teams`. */
  readonly directory: string;
  readonly team: string;
  /** The name of this process's main agent in the team. */
  readonly self: string;
  uuid(): string;
  now(): number;
  warn(text: string): void;
}

export function openTeamClient(parts: TeamClientParts): Result<TeamClient, string> {
  const team = openTeam(parts.directory, parts.team);
  return team.ok ? ok(new TeamClient(team.value, parts)) : team;
}

/** Access to the team for the agents of this process. */
export class TeamClient {
  readonly team: Team;
  readonly self: string;
  readonly post: MailDelivery;
  readonly boxes: Mailboxes;
  /** The duties of this process's teammates, by name. */
  readonly duties = new Map<string, Duty>();
  /** The request ids of plans that wait for the lead, by their author. */
  readonly plans = new Map<string, string>();
  readonly #names: Map<string, string>;
  readonly #parts: TeamClientParts;

  constructor(team: Team, parts: TeamClientParts) {
    this.team = team;
    this.self = parts.self;
    this.boxes = new Mailboxes(team);
    this.post = new MailDelivery(this.boxes, parts);
    this.#names = new Map([[MAIN_AGENT.id, parts.self]]);
    this.#parts = parts;
  }

  /** The agent's name in the team; undefined for agents outside of it. */
  nameOf({ id }: Pick<AgentRef, 'id'>): string | undefined {
    return this.#names.get(id);
  }

  /** Registers the name of an agent of this process; returns a function that removes it. */
  seat(agentId: string, name: string): () => void {
    this.#names.set(agentId, name);
    return () => void this.#names.delete(agentId);
  }

  /** Running members; empty when the team's record is unreadable. */
  living(): readonly TeamMember[] {
    const record = this.team.read();
    return record.ok ? record.value.members.filter(isRunningMember) : [];
  }

  record(): Result<TeamRecord, string> {
    return this.team.read();
  }

  /** Sends a message; without an error it is stored durably. */
  async send(wanted: Omit<Mail, 'id' | 'team' | 'at'>): Promise<Result<Mail, string>> {
    const { to } = wanted;
    const record = this.team.read();
    if (!record.ok) return record;
    const reader = record.value.members.find(({ name }) => name === to);
    if (to !== LEAD && reader === undefined) return err(`there is no "${to}" in the team`);
    // fail-closed: a message to an ended member is refused, so that its sender does not rely on it.
    if (reader !== undefined && !isRunningMember(reader)) return err(`${to} has ended`);
    const id = `m${this.#hex(16)}`;
    const mail: Mail = { ...wanted, id, team: this.team.name, at: this.#parts.now() };
    const sent = await this.boxes.send(mail);
    if (!sent.ok) return sent;
    this.post.nudge(to);
    return ok(mail);
  }

  newRequest(): string {
    return `r${this.#hex(12)}`;
  }

  #hex(length: number): string {
    return this.#parts.uuid().replaceAll('-', '').slice(0, length);
  }
}
