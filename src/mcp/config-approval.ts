import type { SettingValues } from '../settings/types.js';
import { shellWord } from '../util/shell-word.js';
import type { Sourced } from '../util/sourced.js';
import { originOf } from '../util/sourced.js';
import type { Approval, McpApprovals } from './approvals.js';
import { serverKey } from './config-names.js';
import type { RawServer } from './config-types.js';
import { credentialsOf } from './entry-text.js';
import type { Variables } from './expand.js';
import type { Standing } from './server.js';

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

/** Decides about the servers of a project: may each be used, and what would make it so. */
export interface ProjectServers {
  standing(server: RawServer, contentHash: string): Promise<Standing>;
}

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
export function projectServers(deps: ApprovalDeps): ProjectServers {
  let answers: Promise<ReadonlyMap<string, Approval>> | undefined;
  let trust: Promise<boolean> | undefined;
  const isTrusted = (): Promise<boolean> => {
    // fail-closed: no answer is no trust.
    trust ??= deps.trusted().catch(() => false);
    return trust;
  };
  return {
    async standing(server, contentHash) {
      const { name } = server;
      const rejected = rejection(deps.values, name);
      if (rejected !== undefined)
        return {
          kind: 'disabled',
          reason: `disabledMcpjsonServers names it (${originOf(rejected)})`,
        };
      answers ??= deps.approvals.read(deps.project);
      const said = (await answers).get(name);
      // fail-closed: a no holds for the name, whatever the entry has become.
      if (said?.answer === 'declined')
        return { kind: 'disabled', reason: `somebody declined it here; ${approveCommand(name)}` };
      if (said?.by === 'person' && said.hash === contentHash) return READY;
      const credentials = credentialsOf(server.raw, deps.variables);
      // fail-closed: a general yes did not say that keys go along.
      if (credentials.length > 0)
        return pending(name, `it would be given ${credentials.join(', ')}`);
      if (allOfProject(deps.values) || (await isTrusted())) return READY;
      return await byName(deps, { name, contentHash, said });
    },
  };
}

/** A settings file that names a server means the entry that the server has now. */
async function byName(
  deps: ApprovalDeps,
  { name, contentHash, said }: { name: string; contentHash: string; said: Approval | undefined },
): Promise<Standing> {
  const named = namesIn(deps.values, 'enabledMcpjsonServers').find(
    (one) => one.value === name && isOfPerson(one),
  );
  const changed = said !== undefined && said.hash !== contentHash;
  if (changed) return pending(name, 'its entry has changed since it was approved');
  if (named === undefined) return pending(name, 'nobody has approved it');
  if (said === undefined) {
    try {
      await deps.approvals.approve(deps.project, { name, contentHash }, 'settings');
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
