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
  /** Real path of the project's root. */
  readonly project: string;
  /** What `${NAME}` stands for in entries. */
  readonly variables: Variables;
  trusted(): Promise<boolean>;
  /** Something that could not be kept. */
  tell(message: string): void;
}

/** Decides about a server of a project: may it be used, and what would make it so. */
type JudgeServer = (server: RawServer, asked: AskedServer) => Promise<Standing>;

/** Waits for a person. `reason` says both of what follows it, for lists. */
export interface Waiting {
  readonly kind: 'pending-approval';
  readonly reason: string;
  readonly why: string;
  /** The command that approves it. */
  readonly remedy: string;
}

export function isWaiting(standing: Standing): standing is Waiting {
  return standing.kind === 'pending-approval' && 'remedy' in standing;
}

const READY: Standing = { kind: 'ready' };

/** Reads answers and trust once for all servers, and only when there is one. */
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
    // fail-closed: a no holds for the name, whatever the entry has become.
    if (said?.answer === 'declined')
      return { kind: 'disabled', reason: `somebody declined it here; ${approveCommand(name)}` };
    const isSame = said !== undefined && (await deps.approvals.isAbout(said, deps.project, asked));
    if (isSame && said.by === 'person') return READY;
    const change = said === undefined || isSame ? undefined : changeText(said, server, asked);
    const credentials = credentialsOf(server.raw, deps.variables);
    // fail-closed: a general yes did not say that keys go along.
    if (credentials.length > 0)
      return pending(name, change ?? `it would be given ${credentials.join(', ')}`);
    if (allOfProject(deps.values)) return READY;
    // fail-closed: no answer is no trust.
    trust ??= deps.trusted().catch(() => false);
    if (await trust) return READY;
    if (change !== undefined) return pending(name, change);
    return await byName(deps, { asked, isNew: said === undefined });
  };
}

/** What is not as it was when somebody said yes. */
function changeText(said: Approval, { raw }: RawServer, { contentHash }: AskedServer): string {
  if (said.hash !== contentHash) return 'its entry has changed since it was approved';
  const names = startVariables(raw).map((name) => `\${${name}}`);
  return `it was not approved with what ${names.join(', ')} in its command, arguments or address stands for now`;
}

/** A settings file that names a server means the entry that the server has now. */
async function byName(
  deps: ApprovalDeps,
  { asked, isNew }: { readonly asked: AskedServer; readonly isNew: boolean },
): Promise<Standing> {
  const { name } = asked;
  const named = namesIn(deps.values, 'enabledMcpjsonServers').find(
    (one) => one.value === name && isOfPerson(one),
  );
  if (named === undefined) return pending(name, 'nobody has approved it');
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

function pending(name: string, why: string): Waiting {
  const command = approveCommand(name);
  return { kind: 'pending-approval', reason: `${why}; ${command}`, why, remedy: command };
}

function approveCommand(name: string): string {
  return `portcullis mcp approve ${shellWord(name)}`;
}

/** A restriction, so that a file of any source counts, and any spelling of the name in a tool. */
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

/** What a repository says about its own servers is decided by trust in the folder. */
function isOfPerson({ source }: Sourced<unknown>): boolean {
  return source === 'user' || source === 'managed' || source === 'cli';
}

/** One name may stand without a list. */
function namesIn(values: SettingValues, key: string): readonly Sourced<string>[] {
  return values.said(key).filter((one): one is Sourced<string> => typeof one.value === 'string');
}
