import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { ProcessStamp } from '../../platform/process/process-stamp.js';
import type { PermissionMode } from '../../protocol/permissions.js';

/** How a teammate runs: in the process of the lead, or in one of its own in a pane. */
export const TEAMMATE_WAYS = ['in-process', 'tmux', 'iterm2'] as const;
export type TeammateWay = (typeof TEAMMATE_WAYS)[number];

export const TEAMMATE_STATES = ['starting', 'working', 'idle', 'ended'] as const;
export type TeammateState = (typeof TEAMMATE_STATES)[number];

/** One of those who work together, the lead left out. */
export interface TeamMember {
  readonly name: string;
  /** `a` and hexadecimal digits. */
  readonly agentId: string;
  readonly agentType: string;
  readonly description: string;
  readonly way: TeammateWay;
  readonly state: TeammateState;
  /** Changes nothing before the lead has agreed to its plan. */
  readonly planRequired: boolean;
  /** The session that it is, where it has a process of its own. */
  readonly sessionId?: string;
  /** Where it runs; that of the lead for one in its process, and before it has come up. */
  readonly process: ProcessStamp;
  /** The pane, by which it can be ended. */
  readonly pane?: string;
  readonly model: string;
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly joinedAt: number;
}

/** A team, as `config.json` has it. */
export interface TeamRecord {
  readonly name: string;
  readonly createdAt: number;
  readonly lead: {
    readonly sessionId: string;
    readonly cwd: string;
    readonly process: ProcessStamp;
  };
  readonly members: readonly TeamMember[];
}

/** fail-closed: a record of which a part is missing or odd is none. */
export function readTeamRecord(text: string, name: string): Result<TeamRecord, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`it is no JSON (${parsed.error})`);
  const { value } = parsed;
  if (!isRecord(value) || !isRecord(value.lead) || !Array.isArray(value.members)) {
    return err('it describes no team');
  }
  if (value.name !== name || teamNameProblem(name) !== undefined) {
    return err('it is about another team');
  }
  const { lead } = value;
  const isWhole =
    typeof value.createdAt === 'number' &&
    typeof lead.sessionId === 'string' &&
    typeof lead.cwd === 'string' &&
    isStamp(lead.process);
  if (!isWhole) return err('it does not say who leads the team');
  const odd = value.members.findIndex((member) => !isMember(member));
  if (odd >= 0) return err(`its member ${odd + 1} is none`);
  return ok(value as unknown as TeamRecord);
}

function isMember(value: unknown): value is TeamMember {
  if (!isRecord(value)) return false;
  const texts = [value.agentType, value.description, value.model, value.cwd];
  return (
    typeof value.name === 'string' &&
    teammateNameProblem(value.name) === undefined &&
    typeof value.agentId === 'string' &&
    /^a[\da-f]{1,32}$/.test(value.agentId) &&
    texts.every((text) => typeof text === 'string') &&
    (TEAMMATE_WAYS as readonly unknown[]).includes(value.way) &&
    (TEAMMATE_STATES as readonly unknown[]).includes(value.state) &&
    typeof value.planRequired === 'boolean' &&
    typeof value.joinedAt === 'number' &&
    (value.sessionId === undefined || typeof value.sessionId === 'string') &&
    isStamp(value.process) &&
    (value.pane === undefined ||
      (typeof value.pane === 'string' && /^[%\w-]{1,64}$/.test(value.pane)))
  );
}

function isStamp(value: unknown): value is ProcessStamp {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.pid) &&
    (value.start === undefined || typeof value.start === 'string')
  );
}

/** How the agent of the conversation is called in its team. */
export const LEAD = 'team-lead';
/** By which a message goes to everybody else. */
export const EVERYBODY = '*';

const RESERVED: readonly string[] = [LEAD, 'lead', 'main', 'user', 'system', 'all', 'everybody'];

/**
 * fail-closed: names become names of files and of panes, and stand in what other models read: letters
 * and digits of the plain alphabet, and nothing that could lead anywhere or say anything.
 */
export function teammateNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) {
    return 'the name of a teammate has at most 32 letters, digits, - and _, and begins with a letter or digit';
  }
  // fail-closed: some disks do not tell upper from lower case, nor do people.
  return RESERVED.includes(name.toLowerCase()) ? `"${name}" is not free for a teammate` : undefined;
}

export function teamNameProblem(name: string): string | undefined {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) return undefined;
  return 'the name of a team has at most 64 small letters, digits and -, and begins with a letter or digit';
}

/** One team a session; it is called after it. */
export function teamNameOf(sessionId: string): string {
  return `session-${sessionId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 8)}`;
}

/** Who a process is that was started as a teammate. */
export interface MemberIdentity {
  readonly team: string;
  readonly name: string;
  readonly agentId: string;
  /** The session of the lead. */
  readonly leadSessionId: string;
}

/** What a session is to a team. */
export type TeamRole =
  | {
      readonly kind: 'lead';
      /** Where teammates run; goes before the setting `teammateMode`. */
      readonly way?: TeammateWay | 'auto' | undefined;
      /** How to start this program once more, for those with a process of their own. */
      readonly program: readonly string[];
    }
  | {
      readonly kind: 'member';
      readonly identity: MemberIdentity;
      readonly planRequired: boolean;
      /** The mode of the lead when this one was started. */
      readonly leadMode: PermissionMode;
    };
