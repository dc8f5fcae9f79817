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

/** How a teammate runs: in the lead's process, or in its own process in a pane. */
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
  /** It may change nothing before the lead has approved its plan. */
  planRequired: flag,
  /** Its own session, if it has its own process. */
  sessionId: optional(text),
  /** The process it runs in; the lead's until its own has started. */
  process: processStamp,
  /** The pane, needed to close it. */
  pane: optional(like(/^[%\w-]{1,64}$/)),
  model: text,
  cwd: text,
  /** Milliseconds since 1970. */
  joinedAt: number,
});
/** A member of a team other than the lead. */
export type TeamMember = Shaped<typeof member>;

const team = object({
  name: text,
  createdAt: number,
  lead: object({ sessionId: text, cwd: text, process: processStamp }),
  members: listOf(member),
});
/** A team as stored in `config.json`. */
export type TeamRecord = Shaped<typeof team>;

/** fail-closed: an incomplete or invalid record, or one of another team, is refused. */
export function readTeamRecord(json: string, name: string): TeamRecord | undefined {
  const record = parseShape(json, team);
  return record?.name === name ? record : undefined;
}

/** The main agent's name in its team. */
export const LEAD = 'team-lead';
/** The address of all other members. */
export const ALL_MEMBERS = '*';

const RESERVED: readonly string[] = [LEAD, 'lead', 'main', 'user', 'system', 'all', 'everybody'];

/**
 * fail-closed: names become file and pane names and are shown to other models, so only plain ASCII letters,
 * digits, `_` and `-` are allowed.
 */
export function teammateNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) {
    return 'the name of a teammate has at most 32 letters, digits, - and _, and begins with a letter or digit';
  }
  // fail-closed: some file systems ignore case, and so do people.
  return RESERVED.includes(name.toLowerCase()) ? `"${name}" is not free for a teammate` : undefined;
}

export function teamNameProblem(name: string): string | undefined {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) return undefined;
  return 'the name of a team has at most 64 small letters, digits and -, and begins with a letter or digit';
}

/** The team's name, derived from its session. */
export function teamNameOf(sessionId: string): string {
  return `session-${sessionId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 8)}`;
}

/** The identity of a process started as a teammate. */
export interface MemberIdentity {
  readonly team: string;
  readonly name: string;
  readonly agentId: string;
  readonly leadSessionId: string;
}

export type TeamRole =
  | {
      readonly kind: 'lead';
      /** Where teammates run; overrides the setting `teammateMode`. */
      readonly way?: TeammateWay | 'auto' | undefined;
      /** The command that starts this program again for a teammate's own process. */
      readonly program: readonly string[];
    }
  | {
      readonly kind: 'member';
      readonly identity: MemberIdentity;
      readonly planRequired: boolean;
      /** The lead's mode when this teammate was started. */
      readonly leadMode: PermissionMode;
    };
