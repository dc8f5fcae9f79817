import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { Duty } from './duty.js';
import type { TeamFiles } from './host/files.js';
import { inputOf, type Mail, type Mailboxes, mailIn, openMailboxes } from './mail.js';
import { LEAD, type TeamMember, type TeamRecord } from './records.js';
import { namesOf, openTeam, type Team } from './team.js';

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

export interface PostParts {
  readonly boxes: Mailboxes;
  uuid(): string;
  /** For people: mail that does not count, boxes that cannot be read. */
  warn(text: string): void;
  /** Milliseconds between two looks. */
  readonly lookMs?: number;
}

/** One who gets his mail in this process. */
export interface Reader {
  readonly name: string;
  /** Messages that stand in his transcript already: they have arrived, whatever the box says. */
  readonly had?: ReadonlySet<string>;
  /** The program's own part in a message. False: it is not to be shown. */
  onMail?(mail: Mail): boolean | Promise<boolean>;
  /** Says it to him. False: he is not there any more. */
  tell(message: InputMessage): boolean;
}

/** Carries what lies in the boxes to those who work in this process. Each message arrives once. */
export interface Post {
  add(reader: Reader): () => void;
  /** Somebody has sent something: no need to wait for the next look. */
  nudge(name: string): void;
  /** A message stands in somebody's transcript: what it carries is taken out of his box. */
  recorded(name: string, message: Pick<InputMessage, 'content'>): void;
  close(): Promise<void>;
}

interface Seat {
  readonly reader: Reader;
  /** Told and not yet known to stand in the transcript. */
  readonly told: Set<string>;
  warned: string | undefined;
  busy: Promise<void>;
}

const LOOK_MS = 200;

export function openPost(parts: PostParts): Post {
  const { boxes, warn } = parts;
  const seats = new Map<string, Seat>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const inTurn = (seat: Seat, work: () => Promise<void>): Promise<void> => {
    seat.busy = seat.busy.then(work).catch((thrown: unknown) => {
      warn(`mail for ${seat.reader.name}: ${messageOf(thrown)}`);
    });
    return seat.busy;
  };
  const carry = async (seat: Seat): Promise<void> => {
    if (seats.get(seat.reader.name) !== seat) return;
    const { reader, told } = seat;
    const found = boxes.look(reader.name);
    if (!found.ok) {
      // Once: it is looked at several times a second.
      if (seat.warned !== found.error) warn(`mail for ${reader.name}: ${found.error}`);
      seat.warned = found.error;
      return;
    }
    seat.warned = undefined;
    const { mail, odd } = found.value;
    for (const { why } of odd) warn(`a message for ${reader.name} does not count: ${why}`);
    const old = new Set(mail.filter(({ id }) => reader.had?.has(id) === true).map(({ id }) => id));
    if (odd.length > 0 || old.size > 0) {
      const gone = new Set(odd.map(({ entry }) => JSON.stringify(entry)));
      await boxes.remove(
        reader.name,
        (entry) => gone.has(JSON.stringify(entry)) || old.has(idOf(entry)),
      );
    }
    for (const one of mail) {
      if (old.has(one.id) || told.has(one.id)) continue;
      told.add(one.id);
      const isShown = (await reader.onMail?.(one)) ?? true;
      if (!isShown) await taken(seat, [one.id]);
      else if (!reader.tell(inputOf(one, parts.uuid()))) told.delete(one.id);
    }
  };
  const taken = async ({ reader, told }: Seat, ids: readonly string[]): Promise<void> => {
    const done = await boxes.remove(reader.name, (entry) => ids.includes(idOf(entry)));
    // It stays told: in this process it is not said twice, and a later one finds it in the transcript.
    if (!done.ok) warn(`mail that ${reader.name} has read is still in its box: ${done.error}`);
    else for (const id of ids) told.delete(id);
  };
  return {
    add(reader) {
      const seat: Seat = { reader, told: new Set(), warned: undefined, busy: Promise.resolve() };
      seats.set(reader.name, seat);
      timer ??= setInterval(() => {
        for (const one of seats.values()) void inTurn(one, () => carry(one));
      }, parts.lookMs ?? LOOK_MS);
      timer.unref();
      void inTurn(seat, () => carry(seat));
      return () => {
        if (seats.get(reader.name) === seat) seats.delete(reader.name);
      };
    },
    nudge(name) {
      const seat = seats.get(name);
      if (seat !== undefined) void inTurn(seat, () => carry(seat));
    },
    recorded(name, { content }) {
      const seat = seats.get(name);
      if (seat === undefined || seat.told.size === 0) return;
      const ids = content
        .flatMap((block) => (block.type === 'text' ? mailIn(block.text) : []))
        .filter((id) => seat.told.has(id));
      if (ids.length > 0) void inTurn(seat, () => taken(seat, ids));
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...seats.values()].map(({ busy }) => busy));
      seats.clear();
    },
  };
}

function idOf(entry: unknown): string {
  return typeof entry === 'object' && entry !== null && 'id' in entry ? String(entry.id) : '';
}
