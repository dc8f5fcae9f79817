import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { AnyTool } from '../../tools/tool.js';
import type { ApprovedTools, ToolApprovals } from '../approval/tool-approvals.js';
import type { McpConnection } from '../server.js';
import { type ListedTool, listingOf, type ServerListing } from './listing.js';
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

/** One server. */
export interface Page {
  /** Another one once the server was turned off and on, or its entry is a new one. */
  connection: McpConnection;
  readonly parts: McpToolParts;
  approved: ApprovedTools;
  readonly entries: Map<string, Entry>;
  /** By full name: which of the entries has it, by its name on the server. */
  readonly named: Map<string, string>;
  /** What the server says about the use of its tools, as far as it is in force; undefined: not known yet. */
  words: string | undefined;
  /** Nobody has taken note of these words yet: they are not kept. */
  wordsUnnoted: boolean;
  /** Whether the server itself has said what it offers since it was last connected. */
  live: boolean;
  /** Why it must not be called: it was turned off, or taken away. */
  away: string | undefined;
  /** How often the server has said that its tools are others now. */
  changes: number;
  asking: Promise<Result<undefined, string>> | undefined;
}

/** One tool, by its name on its server. */
export interface Entry {
  readonly tool: AnyTool;
  current: ListedTool;
  /** Fingerprint; undefined for a tool that nobody has agreed to yet. */
  approved: string | undefined;
  /** Under which name on the server that was: another spelling may have the same full name. */
  approvedAs: string;
  gone: boolean;
}

export type Admit = (
  page: Page,
  name: string,
  toolUseId: string,
) => Promise<Result<Admission, string>>;

export function openPage(
  connection: McpConnection,
  { approvals, fs, env, tell }: ToolBookDeps,
  admit: Admit,
): Page {
  const approved = approvals.read(connection.declaration);
  const page: Page = {
    connection,
    approved,
    entries: new Map(),
    named: new Map(),
    words: undefined,
    wordsUnnoted: false,
    live: false,
    away: undefined,
    changes: 0,
    asking: undefined,
    parts: {
      get connection() {
        return page.connection;
      },
      fs,
      env,
      tell,
      definition(name) {
        const entry = page.entries.get(name);
        if (entry === undefined) return err(`there is no tool ${name}`);
        if (!isChanged(entry)) return ok(entry.current.raw());
        const old = page.approved.definition(entry.approvedAs);
        // fail-closed: what nobody has agreed to is not shown in its place.
        return old === undefined ? err('it has changed, and nobody has agreed to it yet') : ok(old);
      },
      admit: (name, toolUseId) => admit(page, name, toolUseId),
    },
  };
  watch(page, connection);
  return page;
}

function watch(page: Page, connection: McpConnection): void {
  connection.onChange((change) => {
    if (page.connection !== connection) return;
    const isAway = change === 'state' && connection.status().state !== 'connected';
    if (change !== 'tools' && !isAway) return;
    // fail-closed: a server that was away, or says so itself, may offer something else now.
    page.live = false;
    if (change === 'tools') page.changes += 1;
  });
}

/** The same server by another connection, or another one under its name. */
export function bind(page: Page, connection: McpConnection, deps: ToolBookDeps): Page {
  if (page.connection !== connection) {
    const approved = deps.approvals.read(connection.declaration);
    page.connection = connection;
    page.approved = approved;
    // fail-closed: where nothing was kept, only these words can tell whether the next ones are others.
    if (approved.wordsFingerprint() !== undefined) page.words = undefined;
    page.live = false;
    page.changes += 1;
    for (const [name, entry] of page.entries) {
      // fail-closed: the model knows the tool as it was, so another definition of it is a changed one.
      const shown = entry.approved ?? entry.current.fingerprint;
      const held = approvalOf(page, name);
      entry.approved = held?.fingerprint ?? (approved.damaged ? undefined : shown);
      entry.approvedAs = held?.name ?? name;
    }
    watch(page, connection);
  }
  page.away = undefined;
  return page;
}

export function newEntry(page: Page, current: ListedTool): Entry {
  const tool = mcpTool(page.parts, current);
  const held = approvalOf(page, current.name) ?? shownBefore(page, tool.name);
  return {
    current,
    approved: held?.fingerprint,
    approvedAs: held?.name ?? current.name,
    gone: false,
    tool,
  };
}

interface Held {
  readonly name: string;
  readonly fingerprint: string | undefined;
}

/** fail-closed: a tool that takes the name of an approved one is that one, changed, and not a new one. */
function approvalOf({ approved }: Page, tool: string): Held | undefined {
  const name = approved.sameName(tool);
  return name === undefined ? undefined : { name, fingerprint: approved.fingerprint(name) };
}

/** fail-closed: the same for one that nobody has called yet, but that the model knows by this name. */
function shownBefore({ entries, named }: Page, fullName: string): Held | undefined {
  const raw = named.get(fullName);
  const entry = raw === undefined ? undefined : entries.get(raw);
  if (raw === undefined || entry === undefined) return undefined;
  return { name: raw, fingerprint: entry.approved ?? entry.current.fingerprint };
}

export function isChanged({ approved, current }: Entry): boolean {
  return approved !== undefined && approved !== current.fingerprint;
}

/** Asks the server what it offers, unless it has said so since it was connected. */
export function askAnew(
  page: Page,
  deps: ToolBookDeps,
  enter: (listing: ServerListing) => Offered,
): Promise<Result<undefined, string>> {
  if (page.live) return Promise.resolve(ok(undefined));
  page.asking ??= (async (): Promise<Result<undefined, string>> => {
    const { connection, changes } = page;
    const listed = await connection.listTools();
    if (!listed.ok) return err(listed.error.message);
    const { instructions, serverInfo } = connection.status();
    const { declaration } = connection;
    const tools = listed.value;
    const listing = listingOf({ declaration, tools, instructions, serverInfo });
    const offered = enter(listing);
    // What was said while it answered may not be in the answer.
    page.live = page.changes === changes;
    deps.onListing?.(connection, listing, offered);
    return ok(undefined);
  })().finally(() => {
    page.asking = undefined;
  });
  return page.asking;
}
