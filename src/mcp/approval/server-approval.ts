import type { Sourced } from '../../lib/sourced.js';
import { originOf } from '../../lib/sourced.js';
import { shellWord } from '../../lib/text/shell-word.js';
import type { SettingValues } from '../../settings/types.js';
import { startVariables } from '../config/declaration.js';
import { credentialsOf } from '../config/entry-text.js';
import type { Variables } from '../config/expand.js';
import { serverKey } from '../config/names.js';
import type { RawServer } from '../config/types.js';
import type { Standing } from '../server.js';
import type { Approval, AskedServer, McpApprovals } from './project-approvals.js';

export interface ApprovalDeps {
  readonly values: SettingValues;
  readonly approvals: McpApprovals;
  readonly project: string;
  /** Values for `${NAME}` in entries. */
  readonly variables: Variables;
  trusted(): Promise<boolean>;
  /** Warns that an approval could not be stored. */
  tell(message: string): void;
}

/** Decides whether a project's server may be used and which command would approve it. */
type JudgeServer = (server: RawServer, asked: AskedServer) => Promise<Standing>;

/** A server that waits for a person's approval; `reason` joins `why` and `remedy` for lists. */
export interface PendingServer {
  readonly kind: 'pending-approval';
  readonly reason: string;
  readonly why: string;
  readonly remedy: string;
}

export function isPendingServer(standing: Standing): standing is PendingServer {
  return standing.kind === 'pending-approval' && 'remedy' in standing;
}

const READY: Standing = { kind: 'ready' };

/** Reads answers and folder trust lazily, once for all servers. */
export function judgeProjectServers(deps: ApprovalDeps): JudgeServer {
  let answers: Promise<ReadonlyMap<string, Approval>> | undefined;
  let trust: Promise<boolean> | undefined;
  return async (server, asked) => {
    const { name } = server;
    const rejected = rejection(deps.values, name);
    if (rejected !== undefined) {
      const reason = `disabledMcpjsonServers names it (${originOf(rejected)})`;
      return { kind: 'disabled', reason };
    }
    answers ??= deps.approvals.read(deps.project);
    const said = (await answers).get(name);
    // fail-closed: a decline applies to the name, whatever its entry is now.
    if (said?.answer === 'declined')
      return { kind: 'disabled', reason: `a person declined it here; ${approveCommand(name)}` };
    const isSame = said !== undefined && (await deps.approvals.isAbout(said, deps.project, asked));
    if (isSame && said.by === 'person') return READY;
    const change = said === undefined || isSame ? undefined : changeText(said, server, asked);
    const credentials = credentialsOf(server.raw, deps.variables);
    // fail-closed: a blanket approval does not cover passing credentials to the server.
    if (credentials.length > 0)
      return pending(name, change ?? `it would be given ${credentials.join(', ')}`);
    if (allOfProject(deps.values)) return READY;
    // fail-closed: failing to read the trust means no trust.
    trust ??= deps.trusted().catch(() => false);
    if (await trust) return READY;
    if (change !== undefined) return pending(name, change);
    return await byName(deps, { asked, isNew: said === undefined });
  };
}

/** Explains what changed since the approval. */
function changeText(said: Approval, { raw }: RawServer, { contentHash }: AskedServer): string {
  if (said.hash !== contentHash) return 'its entry has changed since it was approved';
  const names = startVariables(raw).map((name) => `\${${name}}`);
  return `it was not approved with what ${names.join(', ')} in its command, arguments or address stands for now`;
}

/** A settings file that names a server approves the entry it has at first sight; a later change needs a new answer. */
async function byName(
  deps: ApprovalDeps,
  { asked, isNew }: { readonly asked: AskedServer; readonly isNew: boolean },
): Promise<Standing> {
  const { name } = asked;
  const named = namesIn(deps.values, 'enabledMcpjsonServers').find(
    (one) => one.value === name && isOfPerson(one),
  );
  if (named === undefined) return pending(name, 'no person has approved it');
  if (isNew) {
    try {
      await deps.approvals.approve(deps.project, asked, 'settings');
    } catch {
      deps.tell(
        `that "${name}" was approved cannot be kept; a change of its entry would not be noticed.`,
      );
    }
  }
  return READY;
}

function pending(name: string, why: string): PendingServer {
  const command = approveCommand(name);
  return { kind: 'pending-approval', reason: `${why}; ${command}`, why, remedy: command };
}

function approveCommand(name: string): string {
  return `portcullis mcp approve ${shellWord(name)}`;
}

/** Rejections restrict, so settings of every source count, as does any spelling with the same tool prefix. */
function rejection(values: SettingValues, name: string): Sourced<string> | undefined {
  return namesIn(values, 'disabledMcpjsonServers').find(
    ({ value }) => value === name || serverKey(value) === serverKey(name),
  );
}

function allOfProject(values: SettingValues): boolean {
  return values
    .said('enableAllProjectMcpServers')
    .some((one) => one.value === true && isOfPerson(one));
}

/** A repository's settings cannot approve its own servers: folder trust decides about those. */
function isOfPerson({ source }: Sourced<unknown>): boolean {
  return source === 'user' || source === 'managed' || source === 'cli';
}

/** The setting may be a single name instead of a list. */
function namesIn(values: SettingValues, key: string): readonly Sourced<string>[] {
  return values.said(key).filter((one): one is Sourced<string> => typeof one.value === 'string');
}
