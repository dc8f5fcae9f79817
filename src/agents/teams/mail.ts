import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { flag, like, number, object, oneOf, optional, type Shaped, text } from '../../lib/shape.js';
import type { InputMessage } from '../../loop/types.js';
import { join } from '../../platform/fs/paths.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import { escapeReport } from '../runtime/escape-tags.js';
import { teamFiles } from './host/files.js';
import { namesOf, type Team } from './team.js';

const LONGEST_TEXT = 100_000;

const fields = {
  id: like(/^m[\da-f]{16}$/),
  team: text,
  from: text,
  to: text,
  kind: oneOf(
    'message',
    'idle',
    'ended',
    'shutdown_request',
    'shutdown_response',
    'plan_approval_request',
    'plan_approval_response',
  ),
  text,
  /** Milliseconds since 1970. */
  at: number,
  /** Identifies a request in its answers. */
  requestId: optional(like(/^r[\da-f]{12}$/)),
  approve: optional(flag),
  /** The lead's mode when it approved a plan. */
  mode: optional(oneOf(...PERMISSION_MODES)),
};
const mailShape = object(fields);
/** A message between members of a team, as stored in the receiver's mailbox. */
export type Mail = Shaped<typeof mailShape>;

/** The most messages in a mailbox; a full one refuses more. */
const MOST_MAIL = 500;

/** The mailboxes of a team, one per name: a stored message was sent, a removed one was read. */
export class Mailboxes {
  readonly #team: Team;
  readonly #directory: string;

  constructor(team: Team) {
    this.#team = team;
    this.#directory = join(team.directory, 'inboxes');
  }

  /** Sends a message; an error means that it was not sent. */
  async send(mail: Mail): Promise<Result<undefined, string>> {
    const names = this.#names();
    const problem = names.ok ? this.#problem(mail, mail.to, names.value) : names.error;
    if (problem !== undefined) return err(problem);
    return await this.#change(mail.to, (entries) =>
      entries.length < MOST_MAIL
        ? ok([...entries, mail])
        : err(`${mail.to} has ${MOST_MAIL} messages that it has not read yet`),
    );
  }

  /** Unread messages of a member, oldest first, and invalid entries with reasons. */
  look(name: string): Result<Look, string> {
    const names = this.#names();
    if (!names.ok) return names;
    const file = this.#fileOf(name, names.value);
    const entries = file.ok ? entriesOf(file.value) : file;
    if (!entries.ok) return entries;
    const found = entries.value.map((entry) => ({
      entry,
      why: this.#problem(entry, name, names.value),
    }));
    return ok({
      mail: found.filter(({ why }) => why === undefined).map(({ entry }) => entry as Mail),
      odd: found.flatMap(({ entry, why }) => (why === undefined ? [] : [{ entry, why }])),
    });
  }

  /** Removes read messages or invalid entries. */
  remove(name: string, gone: (entry: unknown) => boolean): Promise<Result<undefined, string>> {
    return this.#change(name, (entries) => ok(entries.filter((entry) => !gone(entry))));
  }

  #names(): Result<readonly string[], string> {
    const record = this.#team.read();
    return record.ok ? ok(namesOf(record.value)) : record;
  }

  #problem(entry: unknown, to: string, names: readonly string[]): string | undefined {
    return mailProblem(entry, { team: this.#team.name, to, names });
  }

  /** fail-closed: only names of team members become file names. */
  #fileOf(name: string, names: readonly string[]): Result<string, string> {
    if (!names.includes(name)) return err(`there is no "${name}" in the team`);
    return ok(join(this.#directory, `${name}.json`));
  }

  async #change(
    name: string,
    next: (entries: readonly unknown[]) => Result<readonly unknown[], string>,
  ): Promise<Result<undefined, string>> {
    const names = this.#names();
    const file = names.ok ? this.#fileOf(name, names.value) : names;
    if (!file.ok) return file;
    const problem =
      teamFiles.ownDirectory(this.#team.directory) ?? teamFiles.ownDirectory(this.#directory);
    if (problem !== undefined) return err(problem);
    const done = await teamFiles.exclusive(`${file.value}.lock`, (): Result<undefined, string> => {
      const entries = entriesOf(file.value);
      if (!entries.ok) return entries;
      const wanted = next(entries.value);
      if (!wanted.ok) return wanted;
      if (wanted.value.length !== entries.value.length) {
        teamFiles.keep(file.value, `${JSON.stringify(wanted.value, null, 1)}\n`);
      }
      return ok(undefined);
    });
    return done.ok ? done.value : done;
  }
}

export interface Look {
  readonly mail: readonly Mail[];
  /** Invalid entries, with reasons. */
  readonly odd: readonly { readonly entry: unknown; readonly why: string }[];
}

function entriesOf(file: string): Result<readonly unknown[], string> {
  const found = teamFiles.readOwn(file);
  if (found === undefined) return ok([]);
  if (!found.ok) return err(`the mailbox ${file} cannot be read: ${found.error}`);
  const parsed = parseJson(found.value);
  if (parsed.ok && Array.isArray(parsed.value)) return ok(parsed.value);
  // fail-closed: a damaged mailbox is not overwritten or extended.
  return err(`the mailbox ${file} is damaged; repair or remove it`);
}

/** fail-closed: only a complete message of this team, from a member to the mailbox's owner, is valid. */
function mailProblem(
  entry: unknown,
  { team, to, names }: { team: string; to: string; names: readonly string[] },
): string | undefined {
  if (!isRecord(entry)) return 'it is no message';
  if (!fields.id(entry.id)) return 'it has no id';
  if (!fields.kind(entry.kind)) return 'its kind is not known';
  if (!mailShape(entry)) return 'a part of it is missing or odd';
  const { from, kind, text: said, requestId, approve } = entry;
  if (entry.team !== team) return 'it is of another team';
  if (entry.to !== to) return 'it is for another member';
  if (!names.includes(from)) return 'its sender is not in the team';
  if (from === to) return 'it is from its own reader';
  if (said.length > LONGEST_TEXT) return `it has more than ${LONGEST_TEXT} characters`;
  const isAnswer = kind === 'shutdown_response' || kind === 'plan_approval_response';
  const isRequest = kind === 'shutdown_request' || kind === 'plan_approval_request';
  if ((isAnswer || isRequest) && requestId === undefined) return 'it names no request';
  return isAnswer && approve === undefined ? 'it says neither yes nor no' : undefined;
}

/** A quoted tag is escaped with a backslash. */
const MARK = /(?<!\\)<teammate-message id=\\?"(m[\da-f]{16})\\?" /g;

/** The text of a message for the receiver's model, marked as neither a person's nor the program's. */
function mailText(mail: Mail): string {
  const { id, from, kind, requestId, approve } = mail;
  const about = [
    `id="${id}"`,
    `from="${from}"`,
    ...(kind === 'message' ? [] : [`kind="${kind}"`]),
    ...(requestId === undefined ? [] : [`request_id="${requestId}"`]),
    ...(approve === undefined ? [] : [`approve="${approve}"`]),
  ].join(' ');
  const note = noteOf(mail);
  const said = `<teammate-message ${about}>\n${escapeReport(mail.text)}\n</teammate-message>`;
  return note === undefined ? said : `${said}\n${note}`;
}

/** The program's note on what the receiver should do. */
function noteOf({ kind, from, requestId, approve }: Mail): string | undefined {
  switch (kind) {
    case 'shutdown_request':
      return `You are asked to stop. Answer with SendMessage to "${from}", message {"type":"shutdown_response","request_id":"${requestId}","approve":true}, or false and a reason if your work must not be left as it is.`;
    case 'plan_approval_request':
      return `${from} may change nothing before you agree to its plan. Answer with SendMessage to "${from}", message {"type":"plan_approval_response","request_id":"${requestId}","approve":true}, or false and feedback.`;
    case 'plan_approval_response':
      return approve === true
        ? 'The lead has approved your plan: you can make changes now.'
        : 'The lead has not approved your plan: you are still in plan mode. Improve it and present it again.';
    case 'idle':
      return `${from} has nothing to do now and waits for messages. What it said last is above.`;
    case 'ended':
      return `${from} has ended. What it said last is above; tasks that it had begun are open again.`;
    case 'message':
    case 'shutdown_response':
      return undefined;
  }
}

export function inputOf(mail: Mail, uuid: string): InputMessage {
  return { uuid, content: [{ type: 'text', text: mailText(mail) }], meta: true };
}

/** Ids of messages in a text, plain or as JSON of a transcript. */
export function mailIn(text: string): readonly string[] {
  return [...text.matchAll(MARK)].map(([, id = '']) => id);
}
