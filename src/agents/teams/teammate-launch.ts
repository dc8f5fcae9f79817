import type { SessionConfig } from '../../config/session-config.js';
import { err, ok, type Result } from '../../lib/result.js';
import { listOf, mapOf, object, oneOf, parseShape, type Shaped, text } from '../../lib/shape.js';
import { join } from '../../platform/fs/paths.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { modesFor } from './duty.js';
import { teamFiles } from './host/files.js';
import {
  type MemberIdentity,
  type TeamMember,
  type TeammateWay,
  teammateNameProblem,
} from './records.js';
import { sameName, type Team } from './team.js';

const launchShape = object({
  team: text,
  name: text,
  agentId: text,
  leadSessionId: text,
  sessionId: text,
  leadMode: oneOf(...PERMISSION_MODES),
  /** The working directory, by which project settings are found. */
  cwd: text,
  env: mapOf(text),
  /** Flags that may hold secrets, which a command line would show to other users. */
  args: listOf(text),
});
/** The rest of what a new process needs: a private file, removed when it is read. */
export type Launch = Shaped<typeof launchShape>;

/** The flags with a teammate's identity and mode, visible to other users. */
export function teammateFlags(
  identity: MemberIdentity,
  how: {
    readonly way: TeammateWay;
    readonly leadMode: PermissionMode;
    readonly planRequired: boolean;
  },
): readonly string[] {
  const { first } = modesFor(how.leadMode, how.planRequired);
  return [
    ...['--team-name', identity.team],
    ...['--agent-name', identity.name],
    ...['--agent-id', identity.agentId],
    ...['--parent-session-id', identity.leadSessionId],
    ...['--teammate-mode', how.way],
    // fail-closed: a teammate that must plan first never bypasses permissions, even if the lead does.
    ...(first === 'bypassPermissions'
      ? ['--dangerously-skip-permissions']
      : ['--permission-mode', first]),
    ...(how.planRequired ? ['--plan-mode-required'] : []),
  ];
}

/** The lead's flags that apply to its teammates, above all restrictions. */
export function inheritedArguments(config: SessionConfig): readonly string[] {
  const { agents, tools, settingSources, plugins = [] } = config;
  // A host's server table may hold secrets, which a command line would show to other users.
  const servers = config.mcpConfig?.filter((entry) => typeof entry === 'string');
  const values: readonly (readonly [string, string | readonly string[] | undefined])[] = [
    ['--add-dir', config.addDirs],
    ['--allowedTools', config.allowedTools],
    ['--disallowedTools', config.disallowedTools],
    ['--tools', tools?.join(',')],
    ['--settings', config.settings],
    ['--managed-settings', config.managedSettings],
    ['--setting-sources', settingSources?.join(',')],
    ['--mcp-config', servers],
    // Included because their hooks judge calls.
    ...plugins.map(
      ({ directory, withoutServers }) =>
        [`--plugin-dir${withoutServers === true ? '-no-mcp' : ''}`, directory] as const,
    ),
    ['--agents', typeof agents === 'object' ? JSON.stringify(agents) : agents],
    ['--script', config.script],
    ['--fallback-model', config.fallbackModels?.join(',') || undefined],
  ];
  const switches: readonly (readonly [string, boolean | undefined])[] = [
    ['--strict-mcp-config', config.strictMcpConfig],
    ['--trust', config.trust],
    ['--no-session-persistence', !config.persist],
  ];
  return [
    ...values.flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}=${one}`)),
    ...switches.flatMap(([name, isOn]) => (isOn === true ? [name] : [])),
  ];
}

/** State of the lead that a separate process could not share. */
export interface HeldHere {
  readonly hasBudget: boolean;
  /** A skill whose restrictions or hooks apply to the agents that the lead starts. */
  readonly skill: string | undefined;
}

/** Why a separate process would escape a restriction of this session; undefined when it would not. */
export function notApart(
  config: SessionConfig,
  { hasBudget, skill }: HeldHere,
): string | undefined {
  const { runsAs } = config;
  if (hasBudget || config.maxBudgetUsd !== undefined)
    return 'the budget of the session is kept in one process';
  if (runsAs !== undefined) {
    return `the limits of the agent ${runsAs.name}, which this session runs as, are kept in one process`;
  }
  if (config.callbacks !== undefined) return 'the guards of the host are asked in one process';
  if (config.ignoreFileGrants === true) {
    return 'that files of settings grant nothing here is kept in one process';
  }
  if (skill !== undefined) {
    return `what the skill ${skill} holds this session back from is kept in one process`;
  }
  return undefined;
}

const fileOf = ({ directory }: Team, name: string): string =>
  join(directory, 'launch', `${name}.json`);

/** Throws when the disk fails. */
export function putLaunch(team: Team, launch: Launch): void {
  teamFiles.keep(fileOf(team, launch.name), `${JSON.stringify(launch)}\n`);
}

export function dropLaunch(team: Team, name: string): void {
  teamFiles.remove(fileOf(team, name));
}

/**
 * Verifies a process that claims to be a teammate. fail-closed: the lead must have just registered it and
 * left its file, which works only once.
 */
export function takeLaunch(team: Team, said: MemberIdentity): Result<Launch, string> {
  const problem = teammateNameProblem(said.name);
  if (problem !== undefined) return err(problem);
  const member = memberOf(team, said);
  if (!member.ok) return member;
  if (member.value.state !== 'starting') return err(`${said.name} has been started already`);
  const file = fileOf(team, said.name);
  const found = teamFiles.readOwn(file);
  if (found === undefined) return err(`the lead has not started ${said.name}`);
  if (!found.ok) return err(`${file}: ${found.error}`);
  teamFiles.remove(file);
  const launch = parseShape(found.value, launchShape);
  const isMeant =
    launch !== undefined &&
    launch.team === team.name &&
    launch.name === said.name &&
    launch.agentId === said.agentId &&
    launch.leadSessionId === said.leadSessionId;
  return isMeant ? ok(launch) : err(`what the lead left for ${said.name} is not for this process`);
}

/** The team's record of the member that the flags name. */
export function memberOf(team: Team, said: MemberIdentity): Result<TeamMember, string> {
  const record = team.read();
  if (!record.ok) return record;
  const { lead, members } = record.value;
  if (lead.sessionId !== said.leadSessionId) {
    return err(`the team "${team.name}" is not led by the session ${said.leadSessionId}`);
  }
  const member = members.find(
    ({ name, agentId }) => sameName(name, said.name) && agentId === said.agentId,
  );
  if (member === undefined || member.way === 'in-process') {
    return err(`there is no teammate "${said.name}" in the team "${team.name}"`);
  }
  return ok(member);
}
