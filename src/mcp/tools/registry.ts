import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import { NO_RULES } from '../../permissions/rules/rules.js';
import type { AnyTool } from '../../tools/tool.js';
import { alsoApproved } from '../approval/tool-approvals.js';
import type { McpConnection } from '../server.js';
import { heardWords, type ServerWords } from './change.js';
import { checkDefinition, definitionOf } from './definition-check.js';
import { definitionGuard, findingOf, planGuard, serverOfRuleGuard } from './definition-guard.js';
import type { ServerListing } from './listing.js';
import {
  askAnew,
  bind,
  type Entry,
  isChanged,
  newEntry,
  type Offered,
  openPage,
  type Page,
  type ToolBookDeps,
} from './server-tools.js';
import type { Admission } from './tool.js';

export type { Offered, ToolBookDeps } from './server-tools.js';

/** The tools of all servers of a session, and which of their definitions somebody has agreed to. */
export interface ToolBook {
  /** `live`: the server has just said so, and it is not what a cache remembers. */
  offer(
    connection: McpConnection,
    listing: ServerListing,
    options: { readonly live: boolean },
  ): Offered;
  /**
   * For calls that no gate judges, as settings have chosen the tool: whether the server describes it
   * as it was approved. The first such call approves it.
   */
  vouch(connection: McpConnection, tool: string): Promise<Result<undefined, string>>;
  /** The server is not to be called any more, and why; until it is offered anew. */
  leave(server: string, why: string): void;
  /** Must be part of the gate: a call that it has not seen is not made. */
  readonly extension: GateExtension;
  /** Once approvals of this session are stored. */
  close(): Promise<void>;
}

export function createToolBook(deps: ToolBookDeps): ToolBook {
  const pages = new Map<string, Page>();
  const find = (server: string): Page | undefined => pages.get(server);
  /** Which definition each call was judged by. */
  const judged = new Map<string, string>();
  const storing = new Set<Promise<void>>();

  const pageOf = (connection: McpConnection): Page => {
    const { name } = connection.declaration;
    const known = find(name);
    if (known !== undefined) return bind(known, connection, deps);
    const page = openPage(connection, deps, admit);
    pages.set(name, page);
    return page;
  };

  const approve = (page: Page, entry: Entry): void => {
    if (entry.approved === entry.current.fingerprint) return;
    entry.approved = entry.current.fingerprint;
    entry.approvedAs = entry.current.name;
    for (const other of page.entries.values()) {
      // The name is this tool's from now on.
      if (other === entry || other.tool.name !== entry.tool.name) continue;
      other.approved = entry.approved;
      other.approvedAs = entry.approvedAs;
    }
    // What is stored is seen by the next session; a change in this one is told against this definition.
    page.approved = alsoApproved(page.approved, entry.current);
    const { declaration } = page.connection;
    keep(entry.tool.name, deps.approvals.record(declaration, [entry.current]));
    noteWords(page);
  };

  const keep = (what: string, recording: Promise<void>): void => {
    const stored = recording.catch((thrown) => deps.tell(`${what}: ${messageOf(thrown)}`));
    storing.add(stored);
    void stored.finally(() => storing.delete(stored));
  };

  /** From now on these are the words of the server, and others wait. */
  const noteWords = (page: Page): void => {
    if (!page.wordsUnnoted || page.words === undefined) return;
    page.wordsUnnoted = false;
    const { declaration } = page.connection;
    keep(`"${declaration.name}"`, deps.approvals.recordWords(declaration, page.words));
  };

  const hear = (page: Page, said = ''): ServerWords => {
    const { name } = page.connection.declaration;
    const heard = heardWords({ name, said, known: page.words, approved: page.approved });
    page.words = heard.inForce;
    page.wordsUnnoted = heard.unnoted;
    // The model is told them at once. To say nothing is agreed to with the first call.
    if (said !== '') noteWords(page);
    return heard;
  };

  const admit = async (
    page: Page,
    name: string,
    toolUseId: string,
  ): Promise<Result<Admission, string>> => {
    const by = judged.get(toolUseId);
    judged.delete(toolUseId);
    // fail-closed: it was turned off after the call was allowed.
    if (page.away !== undefined) return err(`The call was not made: ${page.away}.`);
    const live = await refresh(page);
    if (!live.ok) return live;
    const entry = page.entries.get(name);
    if (entry === undefined || entry.gone) return err(goneText(page, name));
    // fail-closed: nobody can say which definition was allowed.
    if (by === undefined) return err(`${entry.tool.name} was not called: it was not judged.`);
    if (by !== entry.current.fingerprint) return err(changedText(page, entry));
    const isNew = entry.approved === undefined || entry.approved === by;
    const note = isNew ? undefined : acceptedNote(entry);
    approve(page, entry);
    return ok({ note });
  };

  /** Puts down what a server offers now. */
  const entered = (page: Page, listing: ServerListing, { live }: { live: boolean }): Offered => {
    const made: AnyTool[] = [];
    const listed = new Set<string>();
    for (const current of listing.tools) {
      listed.add(current.name);
      const known = page.entries.get(current.name);
      if (known === undefined) {
        const entry = newEntry(page, current);
        page.entries.set(current.name, entry);
        page.named.set(entry.tool.name, current.name);
        made.push(entry.tool);
      } else {
        known.current = current;
        known.gone = false;
      }
    }
    for (const [name, entry] of page.entries) entry.gone = !listed.has(name);
    page.live = live;
    const changed = [...page.entries.values()].filter((entry) => !entry.gone && isChanged(entry));
    // What a cache remembers was in force when it was written.
    if (!live) page.words ??= listing.instructions ?? '';
    const heard = live ? hear(page, listing.instructions) : undefined;
    const { problem } = heard ?? {};
    return {
      tools: made,
      changed: changed.map(({ tool }) => tool.name),
      instructions: page.words === '' ? undefined : page.words,
      saysOther: problem !== undefined,
      problems: problem === undefined ? listing.problems : [...listing.problems, problem],
    };
  };

  const refresh = (page: Page): Promise<Result<undefined, string>> =>
    askAnew(page, deps, (listing) => entered(page, listing, { live: true }));

  const vouch = async (
    connection: McpConnection,
    name: string,
  ): Promise<Result<undefined, string>> => {
    const page = pageOf(connection);
    const live = await refresh(page);
    if (!live.ok) return live;
    const entry = page.entries.get(name);
    if (entry === undefined || entry.gone) return err(goneText(page, name));
    const finding = findingOf(page, entry);
    // fail-closed: nobody can be asked here, so what would be a question is a no.
    if (finding.decision !== 'none')
      return err(`The call was not made: ${finding.reasonForModel ?? finding.reason ?? ''}`);
    approve(page, entry);
    return ok(undefined);
  };

  return {
    vouch,
    offer(connection, listing, options) {
      return entered(pageOf(connection), listing, options);
    },
    leave(server, why) {
      const page = find(server);
      if (page === undefined) return;
      page.away = why;
      page.live = false;
    },
    extension: {
      guards: [
        definitionGuard({ pageOf: find, judged, covers: deps.covers, refresh }),
        planGuard,
        serverOfRuleGuard,
      ],
      resolvers: [],
      rules: () => NO_RULES,
      contentOf: (toolUseId) => judged.get(toolUseId),
    },
    async close() {
      await Promise.all(storing);
    },
  };
}

function goneText({ connection }: Page, name: string): string {
  return `The call was not made: the server "${connection.declaration.name}" no longer offers ${JSON.stringify(name)}.`;
}

function changedText({ connection }: Page, { tool }: Entry): string {
  return `The call was not made: the server "${connection.declaration.name}" describes ${tool.name} in another way than when the call was allowed. Call it again, and the new definition is judged.`;
}

/** The definition in the request stays as it was for this session; the new one is told beside it. */
function acceptedNote({ tool, current }: Entry): string | undefined {
  const checked = checkDefinition(current.raw());
  if (!checked.ok) return undefined;
  const text = JSON.stringify(definitionOf(tool.name, checked.value));
  return `The definition of ${tool.name} has changed and was accepted. It is now, in the words of its server: ${text}`;
}
