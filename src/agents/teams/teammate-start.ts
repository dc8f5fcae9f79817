import { budgetOf } from '../../config/session-environment.js';
import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { DEFAULT_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { newAgentId } from '../runtime/roster.js';
import { Duty } from './duty.js';
import { teamFiles } from './host/files.js';
import { closePane, isPaneOpen, openPane, type PaneOrder } from './host/panes.js';
import { LEAD, type TeamMember, type TeammateWay, teammateNameProblem } from './records.js';
import type { Started, TeamBase, TeammateRequest } from './team-base.js';
import type { TeamClient } from './team-client.js';
import { createIdleWait, leaveTeam, setState, teammateNote } from './teammate.js';
import {
  dropLaunch,
  inheritedArguments,
  notApart,
  putLaunch,
  teammateFlags,
} from './teammate-launch.js';

/** What starting a teammate needs besides the team. */
export interface StartParts {
  readonly base: TeamBase;
  readonly program: readonly string[];
  readonly way: TeammateWay;
  /** Creates the team for its first teammate. */
  client(): Promise<Result<TeamClient, string>>;
  /** Registers work that closing has to wait for. */
  pending(work: Promise<void>): void;
}

const COME_UP_MS = 30_000;
const LOOK_MS = 100;
/** Tools that every teammate has. */
const TEAM_TOOLS: readonly string[] = [
  'SendMessage',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
];

export async function startTeammate(
  parts: StartParts,
  wish: TeammateRequest,
): Promise<Result<Started, string>> {
  const { base, way } = parts;
  const { definition, name, context } = wish;
  const isInside = way === 'in-process';
  const problem = teammateNameProblem(name);
  if (problem !== undefined) return err(problem);
  const apart = isInside ? undefined : notApart(base.config, heldHere(base));
  // fail-closed: a restriction that a separate process would escape prevents it.
  if (apart !== undefined) {
    return err(
      `it cannot have a process of its own: ${apart}. It could work in this one: teammateMode "in-process"`,
    );
  }
  const opened = await parts.client();
  if (!opened.ok) return opened;
  const client = opened.value;
  const { clock } = base.environment;
  const leadMode = base.session.mode();
  const member: TeamMember = {
    name,
    agentId: newAgentId(clock.uuid()),
    agentType: definition.name,
    description: wish.description,
    way,
    state: 'starting',
    planRequired: wish.planRequired || definition.permissionMode === 'plan' || leadMode === 'plan',
    process: teamFiles.self(),
    model: wish.model ?? definition.model ?? base.session.model(),
    cwd: context.workspace.cwd,
    joinedAt: clock.now(),
    sessionId: isInside ? undefined : clock.uuid(),
  };
  const joined = await client.team.join(member);
  if (!joined.ok) return joined;
  // Mail for an earlier member of this name is removed.
  const cleared = await client.boxes.remove(name, () => true);
  const start = isInside ? inProcess : inPane;
  const started = cleared.ok ? await start(parts, { client, member, wish, leadMode }) : cleared;
  if (!started.ok) await setState(client, name, 'ended', base.warn);
  return started;
}

function heldHere({ config, environment, session }: TeamBase) {
  const bounds = Object.values({ ...budgetOf(environment.settings.values), ...config.budget });
  const hasBudget = bounds.some((bound) => bound !== undefined);
  return { hasBudget, skill: session.heldBySkill() };
}

interface Beginning {
  readonly client: TeamClient;
  readonly member: TeamMember;
  readonly wish: TeammateRequest;
  readonly leadMode: PermissionMode;
}

function noteFor({ client, member }: Beginning): string {
  const { name, planRequired } = member;
  const others = client.living().flatMap((one) => (one.name === name ? [] : [one.name]));
  return teammateNote({ name, team: client.team.name, others, planRequired });
}

async function inProcess(
  { base, pending }: StartParts,
  begin: Beginning,
): Promise<Result<Started, string>> {
  const { client, member, wish, leadMode } = begin;
  const { name, agentId, planRequired } = member;
  const { agent, agentContext, toolUseId, signal } = wish.context;
  const { warn } = base;
  const duty = new Duty({ name, planRequired, leadMode, warn });
  const leave = client.seat(agentId, name);
  client.duties.set(name, duty);
  // Set before it runs, because it changes its own state later.
  await setState(client, name, 'working', warn);
  const runtime = base.session.runtime();
  const task = await runtime.spawn({
    id: agentId,
    definition: ofTeam(wish.definition),
    description: wish.description,
    prompt: wish.prompt,
    parent: agent,
    toolUseId,
    name,
    background: true,
    mode: () => duty.mode(),
    stays: createIdleWait(base, client, duty),
    signal,
    contexts: [noteFor(begin), ...(agentContext === undefined ? [] : [agentContext])],
    model: wish.model,
    effort: wish.effort,
  });
  if (!task.ok) {
    leave();
    client.duties.delete(name);
    return task;
  }
  const stopPost = client.post.add({
    name,
    onMail: (mail) => duty.onMail(mail),
    tell: (message) => runtime.tell(agentId, message),
  });
  const gone = task.value.ended.then(async () => {
    stopPost();
    leave();
    client.duties.delete(name);
    client.plans.delete(name);
    await leaveTeam(base, client, name);
  });
  pending(gone);
  return ok({ member: { ...member, state: 'working' }, outputFile: task.value.outputFile });
}

/** Adapts a definition for a teammate, which does not use `skills` and servers. */
function ofTeam(definition: AgentDefinition): AgentDefinition {
  const { permissionMode, tools } = definition;
  return {
    ...definition,
    skills: [],
    mcpServers: [],
    // The duty enforces planning, and can end it after approval.
    permissionMode: permissionMode === 'plan' ? undefined : permissionMode,
    tools: tools === undefined ? undefined : [...tools, ...TEAM_TOOLS],
  };
}

async function inPane(parts: StartParts, begin: Beginning): Promise<Result<Started, string>> {
  const { base, program } = parts;
  const { client, member, wish, leadMode } = begin;
  const { team } = client;
  const { name, agentId, way, planRequired } = member;
  const { env, cwd } = base.config;
  const identity = { team: team.name, name, agentId, leadSessionId: base.sessionId };
  const sent = await client.send({ from: LEAD, to: name, kind: 'message', text: wish.prompt });
  if (!sent.ok) return sent;
  const authorities = env.NODE_EXTRA_CA_CERTS ?? '';
  const order: PaneOrder = {
    way: way === 'iterm2' ? 'iterm2' : 'tmux',
    team: team.name,
    name,
    cwd,
    argv: [...program, ...teammateFlags(identity, { way, leadMode, planRequired })],
    env,
    variables: {
      // Where the new process finds its launch file.
      CLAUDE_CONFIG_DIR: base.environment.configDir,
      // Node reads this variable only at its start.
      ...(authorities === '' ? {} : { NODE_EXTRA_CA_CERTS: authorities }),
    },
  };
  const sessionId = member.sessionId ?? base.environment.clock.uuid();
  try {
    putLaunch(team, {
      ...identity,
      sessionId,
      leadMode,
      cwd,
      env: definedTexts(env),
      args: ownArguments(base, begin, sessionId),
    });
  } catch (thrown) {
    return err(messageOf(thrown));
  }
  const pane = await openPane(order);
  const up = pane.ok ? await comesUp(client, name, () => isPaneOpen(pane.value, order)) : pane;
  // The launch file is removed, so that no other process can use it.
  dropLaunch(team, name);
  if (!pane.ok) return pane;
  if (!up.ok) {
    await closePane(pane.value, order);
    return up;
  }
  const known = await team.change(name, (now) => ({ ...now, pane: pane.value }));
  return known.ok ? ok({ member: known.value ?? member }) : known;
}

function ownArguments(
  { config, session }: TeamBase,
  begin: Beginning,
  sessionId: string,
): readonly string[] {
  const { definition, model: wished, effort = config.effort } = begin.wish;
  const saysModel = definition.model !== undefined && definition.model !== 'inherit';
  const model = wished ?? (saysModel ? undefined : session.model());
  return [
    ...inheritedArguments(config),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(effort === undefined ? [] : [`--effort=${effort}`]),
    ...(definition.name === DEFAULT_AGENT ? [] : [`--agent=${definition.name}`]),
    `--session-id=${sessionId}`,
    `--append-system-prompt=${noteFor(begin)}`,
    // Only the lead approves plans there.
    ...(begin.member.planRequired
      ? ['--disallowedTools=ExitPlanMode', '--disallowedTools=EnterPlanMode']
      : []),
  ];
}

function definedTexts(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Waits until the new process has registered itself. */
async function comesUp(
  client: TeamClient,
  name: string,
  isOpen: () => Promise<boolean>,
): Promise<Result<undefined, string>> {
  for (const until = performance.now() + COME_UP_MS; performance.now() < until; ) {
    const record = client.record();
    if (!record.ok) return record;
    const member = record.value.members.find((one) => one.name === name);
    if (member !== undefined && member.state !== 'starting') {
      return member.state === 'ended' ? err('it ended at once') : ok(undefined);
    }
    if (!(await isOpen())) return err('its process ended before it could begin');
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return err(`it did not come up within ${COME_UP_MS / 1000} seconds`);
}
