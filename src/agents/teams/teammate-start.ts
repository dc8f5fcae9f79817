import type { SessionConfig } from '../../config/session-config.js';
import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { DEFAULT_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { TaskStore } from '../../tools/tasks/task-store.js';
import type { ToolContext } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { newAgentId } from '../runtime/roster.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import { createDuty } from './duty.js';
import type { TeamFiles } from './host/files.js';
import type { PaneOrder, Panes } from './host/panes.js';
import { LEAD, type TeamMember, type TeammateWay, teammateNameProblem } from './records.js';
import { releaseTasks } from './tasks.js';
import type { TeamClient } from './team-client.js';
import { createIdleWait, type RestParts, setState, teammateNote } from './teammate.js';
import {
  dropLaunch,
  type HeldHere,
  inheritedArguments,
  notApart,
  putLaunch,
  teammateFlags,
} from './teammate-launch.js';

/** What somebody wants a teammate to be. */
export interface TeammateWish {
  readonly definition: AgentDefinition;
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  /** The call says that it must plan first. */
  readonly planRequired: boolean;
  readonly context: ToolContext;
}

export interface StartParts {
  readonly config: SessionConfig;
  readonly files: TeamFiles;
  readonly panes: Panes;
  readonly program: readonly string[];
  readonly configDir: string;
  readonly sessionId: string;
  readonly tasks: TaskStore;
  readonly rest: Omit<RestParts, 'desk'>;
  /** Makes the team when the first one joins. */
  desk(): Promise<Result<TeamClient, string>>;
  runtime(): AgentRuntime;
  /** Of the lead, now. */
  mode(): PermissionMode;
  model(): string;
  way(): TeammateWay;
  /** What holds here now and is not in the configuration. */
  held(): HeldHere;
  readonly env: Readonly<Record<string, string | undefined>>;
  uuid(): string;
  now(): number;
  warn(text: string): void;
  /** Somebody is on his way out; whoever closes waits for it. */
  pending(work: Promise<void>): void;
}

/** A teammate that has been started. */
export interface Started {
  readonly member: TeamMember;
  readonly outputFile?: string;
}

const COME_UP_MS = 30_000;
const LOOK_MS = 100;
/** What teammates always have. */
const TEAM_TOOLS: readonly string[] = [
  'SendMessage',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
];

export async function startTeammate(
  parts: StartParts,
  wish: TeammateWish,
): Promise<Result<Started, string>> {
  const problem = teammateNameProblem(wish.name);
  if (problem !== undefined) return err(problem);
  const way = parts.way();
  const apart = way === 'in-process' ? undefined : notApart(parts.config, parts.held());
  // fail-closed: what could not be kept there is not given away.
  if (apart !== undefined) {
    return err(
      `it cannot have a process of its own: ${apart}. It could work in this one: teammateMode "in-process"`,
    );
  }
  const opened = await parts.desk();
  if (!opened.ok) return opened;
  const desk = opened.value;
  const { definition } = wish;
  const leadMode = parts.mode();
  const planRequired =
    wish.planRequired || definition.permissionMode === 'plan' || leadMode === 'plan';
  const member: TeamMember = {
    name: wish.name,
    agentId: newAgentId(parts.uuid()),
    agentType: definition.name,
    description: wish.description,
    way,
    state: 'starting',
    planRequired,
    process: parts.files.self(),
    model: wish.model ?? definition.model ?? parts.model(),
    cwd: wish.context.workspace.cwd,
    joinedAt: parts.now(),
    ...(way === 'in-process' ? {} : { sessionId: parts.uuid() }),
  };
  const joined = await desk.team.join(member);
  if (!joined.ok) return joined;
  // What was for another one of that name is not for this one.
  const cleared = await desk.boxes.remove(wish.name, () => true);
  const start = way === 'in-process' ? inProcess : inPane;
  const started = cleared.ok ? await start(parts, { desk, member, wish, leadMode }) : cleared;
  if (!started.ok) await setState(desk, wish.name, 'ended', parts.warn);
  return started;
}

interface Beginning {
  readonly desk: TeamClient;
  readonly member: TeamMember;
  readonly wish: TeammateWish;
  readonly leadMode: PermissionMode;
}

function noteFor({ desk, member }: Beginning): string {
  const others = desk.living().flatMap(({ name }) => (name === member.name ? [] : [name]));
  const { name, planRequired } = member;
  return teammateNote({ name, team: desk.team.name, others, planRequired });
}

async function inProcess(parts: StartParts, begin: Beginning): Promise<Result<Started, string>> {
  const { desk, member, wish, leadMode } = begin;
  const { name, agentId } = member;
  const duty = createDuty({ name, planRequired: member.planRequired, leadMode, warn: parts.warn });
  const { agentContext } = wish.context;
  const leave = desk.seat(agentId, name);
  desk.duties.set(name, duty);
  // Before it runs: how it stands later is for it to say.
  await setState(desk, name, 'working', parts.warn);
  const task = await parts.runtime().spawn({
    id: agentId,
    definition: ofTeam(wish.definition),
    description: wish.description,
    prompt: wish.prompt,
    parent: wish.context.agent,
    toolUseId: wish.context.toolUseId,
    name,
    background: true,
    mode: duty.mode,
    stays: createIdleWait({ ...parts.rest, desk }, duty),
    signal: wish.context.signal,
    contexts: [noteFor(begin), ...(agentContext === undefined ? [] : [agentContext])],
    model: wish.model,
    effort: wish.effort,
  });
  if (!task.ok) {
    leave();
    desk.duties.delete(name);
    return task;
  }
  const { value } = task;
  const stopPost = desk.post.add({
    name,
    onMail: (mail) => duty.onMail(mail),
    tell: (message) => parts.runtime().tell(agentId, message),
  });
  const gone = value.ended.then(async () => {
    stopPost();
    leave();
    desk.duties.delete(name);
    desk.plans.delete(name);
    await ended(parts, desk, name);
  });
  parts.pending(gone);
  return ok({ member: { ...member, state: 'working' }, outputFile: value.outputFile });
}

/** `skills` and servers of a definition are for agents of another kind. */
function ofTeam(definition: AgentDefinition): AgentDefinition {
  // What makes it plan first is kept by its duty, which can be lifted.
  const { permissionMode, tools, ...rest } = definition;
  return {
    ...rest,
    skills: [],
    mcpServers: [],
    permissionMode: permissionMode === 'plan' ? undefined : permissionMode,
    tools: tools === undefined ? undefined : [...tools, ...TEAM_TOOLS],
  };
}

/** Somebody has left: the team knows it, and what he had begun is anybody's again. */
export async function ended(
  parts: Pick<StartParts, 'tasks' | 'warn'>,
  desk: TeamClient,
  name: string,
): Promise<readonly string[]> {
  await setState(desk, name, 'ended', parts.warn);
  const released = await releaseTasks(parts.tasks, desk.team.name, name);
  if (!released.ok) parts.warn(`what ${name} had begun is still called its own: ${released.error}`);
  return released.ok ? released.value : [];
}

async function inPane(parts: StartParts, begin: Beginning): Promise<Result<Started, string>> {
  const { desk, member, wish, leadMode } = begin;
  const { team } = desk;
  const identity = {
    team: team.name,
    name: member.name,
    agentId: member.agentId,
    leadSessionId: parts.sessionId,
  };
  const sent = await desk.send({ from: LEAD, to: member.name, kind: 'message', text: wish.prompt });
  if (!sent.ok) return sent;
  const { way, planRequired } = member;
  const authorities = parts.env.NODE_EXTRA_CA_CERTS ?? '';
  const place: PaneOrder = {
    team: team.name,
    name: member.name,
    cwd: parts.config.cwd,
    argv: [...parts.program, ...teammateFlags(identity, { way, leadMode, planRequired })],
    env: parts.env,
    variables: {
      // Where the new process finds what was left for it.
      CLAUDE_CONFIG_DIR: parts.configDir,
      // Read when a program starts: it cannot be told later.
      ...(authorities === '' ? {} : { NODE_EXTRA_CA_CERTS: authorities }),
    },
  };
  try {
    putLaunch(parts.files, team, {
      ...identity,
      sessionId: member.sessionId ?? parts.uuid(),
      leadMode,
      cwd: place.cwd,
      env: textsOf(parts.env),
      args: ownArguments(parts, begin),
    });
  } catch (thrown) {
    return err(messageOf(thrown));
  }
  const kind = way === 'iterm2' ? 'iterm2' : 'tmux';
  const opened = await parts.panes.open(kind, place);
  const isOpen = (): Promise<boolean> =>
    opened.ok ? parts.panes.isOpen(kind, opened.value, place) : Promise.resolve(false);
  const up = opened.ok ? await comesUp(desk, member.name, isOpen) : opened;
  // Nothing is left lying about that another process could pick up.
  dropLaunch(parts.files, team, member.name);
  if (!up.ok) {
    if (opened.ok) await parts.panes.close(kind, opened.value, place);
    return up;
  }
  const pane = opened.ok ? opened.value : '';
  const known = await team.change(member.name, (now) => ({ ...now, pane }));
  return known.ok ? ok({ member: known.value ?? member }) : known;
}

function ownArguments(parts: StartParts, begin: Beginning): readonly string[] {
  const { wish, member } = begin;
  const { definition } = wish;
  const saysModel = definition.model !== undefined && definition.model !== 'inherit';
  const model = wish.model ?? (saysModel ? undefined : parts.model());
  const effort = wish.effort ?? parts.config.effort;
  return [
    ...inheritedArguments(parts.config),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(effort === undefined ? [] : [`--effort=${effort}`]),
    ...(definition.name === DEFAULT_AGENT ? [] : [`--agent=${definition.name}`]),
    `--session-id=${member.sessionId ?? parts.uuid()}`,
    `--append-system-prompt=${noteFor(begin)}`,
    // There the lead approves plans, and nobody else.
    ...(member.planRequired
      ? ['--disallowedTools=ExitPlanMode', '--disallowedTools=EnterPlanMode']
      : []),
  ];
}

function textsOf(env: StartParts['env']): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/** The new process says by itself that it is there. */
async function comesUp(
  desk: TeamClient,
  name: string,
  isOpen: () => Promise<boolean>,
): Promise<Result<undefined, string>> {
  for (const until = performance.now() + COME_UP_MS; performance.now() < until; ) {
    const record = desk.record();
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
