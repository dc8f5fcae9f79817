import {
  flag,
  like,
  listOf,
  number,
  object,
  oneOf,
  optional,
  parseShape,
  type Shape,
  type Shaped,
  text,
} from '../../lib/shape.js';
import type { PermissionMode } from '../../protocol/permissions.js';

/** How a teammate runs: in the process of the lead, or in one of its own in a pane. */
const way = oneOf('in-process', 'tmux', 'iterm2');
export type TeammateWay = Shaped<typeof way>;

const state = oneOf('starting', 'working', 'idle', 'ended');
export type TeammateState = Shaped<typeof state>;

const teammateName: Shape<string> = (value): value is string =>
  typeof value === 'string' && teammateNameProblem(value) === undefined;

const processStamp = object({
  pid: (value: unknown): value is number => Number.isSafeInteger(value),
  start: optional(text),
});

const member = object({
  name: teammateName,
  agentId: like(/^a[\da-f]{1,32}$/),
  agentType: text,
  description: text,
  way,
  state,
  /** Changes nothing before the lead has agreed to its plan. */
  planRequired: flag,
  /** The session that it is, where it has a process of its own. */
  sessionId: optional(text),
  /** Where it runs; that of the lead for one in its process, and before it has come up. */
  process: processStamp,
  /** The pane, by which it can be ended. */
  pane: optional(like(/^[%\w-]{1,64}$/)),
  model: text,
  cwd: text,
  /** Milliseconds since 1970. */
  joinedAt: number,
});
/** One of those who work together, the lead left out. */
export type TeamMember = Shaped<typeof member>;

const team = object({
  name: text,
  createdAt: number,
  lead: object({ sessionId: text, cwd: text, process: processStamp }),
  members: listOf(member),
});
/** A team, as `config.json` has it. */
export type TeamRecord = Shaped<typeof team>;

/** fail-closed: a record of which a part is missing or odd, or that is about another team, is none. */
export function readTeamRecord(json: string, name: string): TeamRecord | undefined {
  const record = parseShape(json, team);
  return record?.name === name ? record : undefined;
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
