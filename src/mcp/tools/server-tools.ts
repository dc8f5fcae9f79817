import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { AnyTool } from '../../tools/tool.js';
import {
  type ApprovedTool,
  type ApprovedTools,
  approvedName,
  type ToolApprovals,
} from '../approval/tool-approvals.js';
import type { McpConnection, RawTool } from '../server.js';
import { heardWords } from './change.js';
import { checkDefinition, definitionOf } from './definition-check.js';
import { fetchListing, type ListedTool, type ServerListing } from './listing.js';
import { type Admission, type McpToolParts, mcpTool } from './tool.js';

export interface Offered {
  /** Tools that were not known before. */
  readonly tools: readonly AnyTool[];
  /** Full names of tools whose definition is not the approved one. */
  readonly changed: readonly string[];
  /** What the model may be told of what the server says about the use of its tools. */
  readonly instructions: string | undefined;
  /** It now says something else about that, which nobody has accepted yet. */
  readonly saysOther: boolean;
  readonly problems: readonly string[];
}

export interface ToolBookDeps {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly approvals: Pick<ToolApprovals, 'read' | 'record' | 'recordWords'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False: another book answers for the tool. Absent: this one does for all. */
  covers?(tool: AnyTool): boolean;
  /** A server was asked anew because one of its tools was called. */
  onListing?(connection: McpConnection, listing: ServerListing, offered: Offered): void;
  /** For people. */
  tell(text: string): void;
}

/** What the servers of a session share. */
export interface SharedByServers extends ToolBookDeps {
  /** Which definition each call was judged by. */
  readonly judged: Map<string, string>;
  /** Waits, at the end of the session, for an approval to be stored. */
  keep(what: string, recording: Promise<void>): void;
}

/** One tool, by its name on its server. */
export interface Entry {
  readonly tool: AnyTool;
  current: ListedTool;
  gone: boolean;
}

/** The tools of one server, and which of their definitions somebody has agreed to. */
export class ServerTools implements McpToolParts {
  readonly entries = new Map<string, Entry>();
  /** Another one once the server was turned off and on, or its entry is a new one. */
  connection: McpConnection;
  approved: ApprovedTools;
  /** Whether the server itself has said what it offers since it was last connected. */
  live = false;
  /** Why it must not be called: it was turned off, or taken away. */
  away: string | undefined;
  readonly #shared: SharedByServers;
  /** By full name: what was agreed to, or what the model knows the tool as. Rules and people know tools by that name. */
  readonly #agreed = new Map<string, ApprovedTool>();
  /** What the server says about the use of its tools, as far as it is in force; undefined: not known yet. */
  #words: string | undefined;
  /** Nobody has taken note of these words yet: they are not kept. */
  #wordsUnnoted = false;
  /** How often the server has said that its tools are others now. */
  #changes = 0;
  #asking: Promise<Result<undefined, string>> | undefined;

  constructor(connection: McpConnection, shared: SharedByServers) {
    this.#shared = shared;
    this.connection = connection;
    this.approved = shared.approvals.read(connection.declaration);
    this.#watch(connection);
  }

  get fs(): ToolBookDeps['fs'] {
    return this.#shared.fs;
  }

  get env(): ToolBookDeps['env'] {
    return this.#shared.env;
  }

  tell(text: string): void {
    this.#shared.tell(text);
  }

  /** The same server by another connection, or another one under its name. */
  bind(connection: McpConnection): void {
    this.away = undefined;
    if (this.connection === connection) return;
    this.connection = connection;
    this.approved = this.#shared.approvals.read(connection.declaration);
    // fail-closed: where nothing was kept, only these words can tell whether the next ones are others.
    if (this.approved.words !== undefined) this.#words = undefined;
    this.live = false;
    this.#changes += 1;
    for (const [name, { tool, current }] of this.entries) {
      // fail-closed: the model knows the tool as it was, so another definition of it is a changed one.
      const known = this.#agreed.get(tool.name) ?? shownAs(current);
      const held = this.#approvalOf(name) ?? (this.approved.damaged ? undefined : known);
      if (held === undefined) this.#agreed.delete(tool.name);
      else this.#agreed.set(tool.name, held);
    }
    this.#watch(connection);
  }

  #watch(connection: McpConnection): void {
    connection.onChange((change) => {
      if (this.connection !== connection) return;
      const isAway = change === 'state' && connection.status().state !== 'connected';
      if (change !== 'tools' && !isAway) return;
      // fail-closed: a server that was away, or says so itself, may offer something else now.
      this.live = false;
      if (change === 'tools') this.#changes += 1;
    });
  }

  /** What its definition is compared with. Undefined: the tool is not approved yet. */
  agreed({ tool }: Pick<Entry, 'tool'>): ApprovedTool | undefined {
    return this.#agreed.get(tool.name);
  }

  isChanged(entry: Entry): boolean {
    const agreed = this.agreed(entry);
    return agreed !== undefined && agreed.fingerprint !== entry.current.fingerprint;
  }

  definition(name: string): Result<RawTool, string> {
    const entry = this.entries.get(name);
    if (entry === undefined) return err(`there is no tool ${name}`);
    if (!this.isChanged(entry)) return ok(entry.current.raw);
    const old = this.agreed(entry)?.definition;
    // fail-closed: what nobody has agreed to is not shown in its place.
    return old === undefined ? err('it has changed, and nobody has agreed to it yet') : ok(old);
  }

  /** Puts down what the server offers. `live`: it has just said so, and it is not what a cache remembers. */
  offer(listing: ServerListing, { live }: { readonly live: boolean }): Offered {
    const made: AnyTool[] = [];
    for (const entry of this.entries.values()) entry.gone = true;
    for (const current of listing.tools) {
      const known = this.entries.get(current.name);
      if (known === undefined) made.push(this.#add(current));
      else Object.assign(known, { current, gone: false });
    }
    this.live = live;
    const changed = [...this.entries.values()].filter((one) => !one.gone && this.isChanged(one));
    // What a cache remembers was in force when it was written.
    if (!live) this.#words ??= listing.instructions ?? '';
    const problem = live ? this.#hear(listing.instructions) : undefined;
    return {
      tools: made,
      changed: changed.map(({ tool }) => tool.name),
      instructions: this.#words === '' ? undefined : this.#words,
      saysOther: problem !== undefined,
      problems: problem === undefined ? listing.problems : [...listing.problems, problem],
    };
  }

  #add(current: ListedTool): AnyTool {
    const tool = mcpTool(this, current);
    const others = [...this.entries.values()].filter((one) => one.tool.name === tool.name);
    // fail-closed: a tool that takes the name of one that was approved, or that the model knows, is that one, changed.
    const held =
      this.#approvalOf(current.name) ??
      this.#agreed.get(tool.name) ??
      others.map((one) => shownAs(one.current))[0];
    if (held !== undefined) this.#agreed.set(tool.name, held);
    this.entries.set(current.name, { tool, current, gone: false });
    return tool;
  }

  #approvalOf(tool: string): ApprovedTool | undefined {
    const { tools } = this.approved;
    return tools.get(approvedName(this.connection.declaration, tools, tool) ?? '');
  }

  /** Why what the server says now about the use of its tools is withheld; undefined when it is not. */
  #hear(said = ''): string | undefined {
    const { name } = this.connection.declaration;
    const heard = heardWords({ name, said, known: this.#words, approved: this.approved });
    this.#words = heard.inForce;
    this.#wordsUnnoted = heard.unnoted;
    // The model is told them at once. To say nothing is agreed to with the first call.
    if (said !== '') this.#noteWords();
    return heard.problem;
  }

  /** From now on these are the words of the server, and others wait. */
  #noteWords(): void {
    if (!this.#wordsUnnoted || this.#words === undefined) return;
    this.#wordsUnnoted = false;
    const { declaration } = this.connection;
    const { keep, approvals } = this.#shared;
    keep(`"${declaration.name}"`, approvals.recordWords(declaration, this.#words));
  }

  /** Asks the server what it offers. */
  async refresh(): Promise<Result<undefined, string>> {
    this.#asking ??= this.#askAnew().finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking;
  }

  async #askAnew(): Promise<Result<undefined, string>> {
    const connection = this.connection;
    const changes = this.#changes;
    const listing = await fetchListing(connection);
    if (!listing.ok) return err(listing.error.message);
    const offered = this.offer(listing.value, { live: true });
    // What was said while it answered may not be in the answer.
    this.live = this.#changes === changes;
    this.#shared.onListing?.(connection, listing.value, offered);
    return ok(undefined);
  }

  /** The entry of a tool as the server describes it now: it is asked unless it has said so since it was connected. */
  async current(name: string): Promise<Result<Entry, string>> {
    const asked = this.live ? undefined : await this.refresh();
    if (asked?.ok === false) return asked;
    const entry = this.entries.get(name);
    if (entry !== undefined && !entry.gone) return ok(entry);
    const server = this.connection.declaration.name;
    return err(
      `The call was not made: the server "${server}" no longer offers ${JSON.stringify(name)}.`,
    );
  }

  /** The last look before a call goes out: it must have been judged, by the definition there is now. */
  async admit(name: string, toolUseId: string): Promise<Result<Admission, string>> {
    const { judged } = this.#shared;
    const by = judged.get(toolUseId);
    judged.delete(toolUseId);
    // fail-closed: it was turned off after the call was allowed.
    if (this.away !== undefined) return err(`The call was not made: ${this.away}.`);
    const known = this.live ? this.entries.get(name) : undefined;
    const found = known?.gone === false ? ok(known) : await this.current(name);
    if (!found.ok) return found;
    const entry = found.value;
    // fail-closed: nobody can say which definition was allowed.
    if (by === undefined) return err(`${entry.tool.name} was not called: it was not judged.`);
    if (by !== entry.current.fingerprint) {
      const server = this.connection.declaration.name;
      return err(
        `The call was not made: the server "${server}" describes ${entry.tool.name} in another way than when the call was allowed. Call it again, and the new definition is judged.`,
      );
    }
    const note = this.isChanged(entry) ? acceptedNote(entry) : undefined;
    if (this.agreed(entry)?.fingerprint !== by) this.approve(entry);
    return ok({ note });
  }

  approve({ tool, current }: Entry): void {
    if (this.#agreed.get(tool.name)?.fingerprint === current.fingerprint) return;
    // What is stored is seen by the next session; a change in this one is told against this definition.
    this.#agreed.set(tool.name, shownAs(current));
    const { keep, approvals } = this.#shared;
    keep(tool.name, approvals.record(this.connection.declaration, [current]));
    this.#noteWords();
  }
}

function shownAs({ fingerprint, raw }: ListedTool): ApprovedTool {
  return { fingerprint, definition: raw };
}

/** The definition in the request stays as it was for this session; the new one is told beside it. */
function acceptedNote({ tool, current }: Entry): string | undefined {
  const checked = checkDefinition(current.raw);
  if (!checked.ok) return undefined;
  const text = JSON.stringify(definitionOf(tool.name, checked.value));
  return `The definition of ${tool.name} has changed and was accepted. It is now, in the words of its server: ${text}`;
}
