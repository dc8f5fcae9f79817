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
  /** New tools. */
  readonly tools: readonly AnyTool[];
  /** Full names of tools whose definition differs from the approved one. */
  readonly changed: readonly string[];
  /** The server's instructions that the model may see. */
  readonly instructions: string | undefined;
  /** The server changed its instructions, and no person has accepted them yet. */
  readonly saysOther: boolean;
  readonly problems: readonly string[];
}

export interface ToolBookDeps {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly approvals: Pick<ToolApprovals, 'read' | 'record' | 'recordWords'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False when another book is responsible for the tool; absent when this one has all. */
  covers?(tool: AnyTool): boolean;
  /** Called after a tool call refreshed a server's list. */
  onListing?(connection: McpConnection, listing: ServerListing, offered: Offered): void;
  /** Shows a note to people. */
  tell(text: string): void;
}

export interface SharedByServers extends ToolBookDeps {
  /** The fingerprint that each call was judged by. */
  readonly judged: Map<string, string>;
  /** Stores an approval; closing the session waits for it. */
  keep(what: string, recording: Promise<void>): void;
}

/** A tool under the server's name for it. */
export interface Entry {
  readonly tool: AnyTool;
  current: ListedTool;
  gone: boolean;
}

/** The tools of one server and their approved definitions. */
export class ServerTools implements McpToolParts {
  readonly entries = new Map<string, Entry>();
  /** Replaced when the server is toggled or its entry changes. */
  connection: McpConnection;
  approved: ApprovedTools;
  /** Whether the tool list was fetched since the last connect. */
  live = false;
  /** Why its tools must not be called: the server was disabled or removed. */
  away: string | undefined;
  readonly #shared: SharedByServers;
  /** Approved definitions, or those the model has seen, by full name, since rules and people use that name. */
  readonly #agreed = new Map<string, ApprovedTool>();
  /** The instructions in use; undefined when none are known yet. */
  #words: string | undefined;
  /** These instructions are not stored yet. */
  #wordsUnnoted = false;
  /** Counts the server's `list_changed` notifications and rebinds. */
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

  /** Takes over a new connection, which may lead to a different server of the same name. */
  bind(connection: McpConnection): void {
    this.away = undefined;
    if (this.connection === connection) return;
    this.connection = connection;
    this.approved = this.#shared.approvals.read(connection.declaration);
    // fail-closed: without stored instructions only these reveal a change.
    if (this.approved.words !== undefined) this.#words = undefined;
    this.live = false;
    this.#changes += 1;
    for (const [name, { tool, current }] of this.entries) {
      // fail-closed: the model knows the old definition, so a different one counts as changed.
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
      // fail-closed: a server that reconnects or announces changes may offer other tools.
      this.live = false;
      if (change === 'tools') this.#changes += 1;
    });
  }

  /** The definition to compare with; undefined before the first approval. */
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
    // fail-closed: an unapproved definition is not shown instead.
    return old === undefined ? err('it has changed and was not approved yet') : ok(old);
  }

  /** Takes over a tool list; `live` when it comes from the server instead of the cache. */
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
    // Cached instructions were in use when they were written.
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
    // fail-closed: a tool that takes over a known full name counts as that tool, changed.
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

  /** Compares the present instructions and returns why they are withheld, if they are. */
  #hear(said = ''): string | undefined {
    const { name } = this.connection.declaration;
    const heard = heardWords({ name, said, known: this.#words, approved: this.approved });
    this.#words = heard.inForce;
    this.#wordsUnnoted = heard.unnoted;
    // The model sees non-empty instructions now; empty ones are accepted with the first call.
    if (said !== '') this.#noteWords();
    return heard.problem;
  }

  /** Stores the instructions as accepted; later changes need a new acceptance. */
  #noteWords(): void {
    if (!this.#wordsUnnoted || this.#words === undefined) return;
    this.#wordsUnnoted = false;
    const { declaration } = this.connection;
    const { keep, approvals } = this.#shared;
    keep(`"${declaration.name}"`, approvals.recordWords(declaration, this.#words));
  }

  /** Fetches the tool list; concurrent calls share one request. */
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
    // A change announced meanwhile may be missing from the list.
    this.live = this.#changes === changes;
    this.#shared.onListing?.(connection, listing.value, offered);
    return ok(undefined);
  }

  /** Returns a tool as the server describes it now, refreshing the list unless it is live. */
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

  /** The last check before a call is sent: it must have been judged by the present definition. */
  async admit(name: string, toolUseId: string): Promise<Result<Admission, string>> {
    const { judged } = this.#shared;
    const by = judged.get(toolUseId);
    judged.delete(toolUseId);
    // fail-closed: the server was disabled after the call was allowed.
    if (this.away !== undefined) return err(`The call was not made: ${this.away}.`);
    const known = this.live ? this.entries.get(name) : undefined;
    const found = known?.gone === false ? ok(known) : await this.current(name);
    if (!found.ok) return found;
    const entry = found.value;
    // fail-closed: it is unknown which definition was allowed.
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
    // The stored approval is for later sessions; this session compares with the new definition.
    this.#agreed.set(tool.name, shownAs(current));
    const { keep, approvals } = this.#shared;
    keep(tool.name, approvals.record(this.connection.declaration, [current]));
    this.#noteWords();
  }
}

function shownAs({ fingerprint, raw }: ListedTool): ApprovedTool {
  return { fingerprint, definition: raw };
}

/** The definition in the requests stays for this session, so a note tells the model the new one. */
function acceptedNote({ tool, current }: Entry): string | undefined {
  const checked = checkDefinition(current.raw);
  if (!checked.ok) return undefined;
  const text = JSON.stringify(definitionOf(tool.name, checked.value));
  return `The definition of ${tool.name} has changed and was accepted. It is now, in the words of its server: ${text}`;
}
