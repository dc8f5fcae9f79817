import { type Inbox, openInboxOf } from '../agents/inbox/inbox.js';
import type { TeamView } from '../agents/teams/team.js';
import type { HookSet } from '../hooks/registry/captured.js';
import { closeAll } from '../lib/close-all.js';
import { lookAtLevels } from '../platform/fs/project-levels.js';
import type { ArchiveItem, TranscriptArchive } from '../session/transcript/archive.js';
import { openTranscripts, projectKeyOf } from '../session/transcripts.js';
import {
  openProjectTrust,
  type ProjectTrust,
  type StartedTrust,
  startTrust,
} from '../settings/trust/project-trust.js';
import { openTrustStore, type TrustStore } from '../settings/trust/store.js';
import type { ProjectAgents } from './agents.js';
import type { ProjectChanges } from './changes.js';
import type { ContextOptions, ProjectContext } from './context.js';
import { documentPlaces } from './documents.js';
import type { ProjectJournal } from './journal.js';
import type { PendingServer, ProjectServers } from './mcp/mcp.js';
import { type ProjectOptions, type ProjectPlaces, projectPlaces } from './places.js';
import type { ProjectSandbox } from './sandbox.js';
import type { SessionParts, SessionPartsOptions } from './session-parts.js';
import {
  loadProjectSettings,
  type ProjectRules,
  type ProjectSettings,
  projectRules,
} from './settings.js';
import type { ProjectSkills } from './skills.js';

export type { InboxQuestion } from '../agents/inbox/inbox.js';
export type { ProjectOptions, ProjectPlaces } from './places.js';

/**
 * What a session in a directory would have, without opening one. Each member is read when it is first
 * asked for, and once.
 */
export interface Project {
  readonly cwd: string;
  readonly places: ProjectPlaces;
  /** What the folder declares and whether a person accepted it; asks for nothing and warns of nothing. */
  readonly folderTrust: ProjectTrust;
  /** The answers about all folders of this user. */
  readonly trustStore: TrustStore;
  /** The trust that a session would start with. */
  trust(): Promise<StartedTrust>;
  settings(): Promise<ProjectSettings>;
  rules(): Promise<ProjectRules>;
  /** The hooks of the settings, with those that are skipped and why. */
  hooks(): Promise<HookSet>;
  skills(): Promise<ProjectSkills>;
  agents(): Promise<ProjectAgents>;
  /** The teams of this user. */
  teams(): Promise<{ readonly teams: readonly TeamView[]; readonly problems: readonly string[] }>;
  mcp(): Promise<ProjectServers>;
  /** The servers of `.mcp.json` that wait for a person's answer; loads nothing where there is no such file. */
  pendingServers(): Promise<readonly PendingServer[]>;
  sandbox(): Promise<ProjectSandbox>;
  /** What the model would be shown. */
  context(options: ContextOptions): Promise<ProjectContext>;
  /** Questions of background agents of this user. */
  inbox(): Inbox;
  /** The decisions in sessions of this directory; `session` is the beginning of an id. */
  journal(session?: string): Promise<ProjectJournal>;
  /** The file changes of a session: of the one whose id begins so, or of the last one. */
  changes(session?: string): Promise<ProjectChanges>;
  /** The recorded sessions of this directory, newest first, and the archive that holds them. */
  sessions(): Promise<{
    readonly archive: TranscriptArchive;
    readonly items: readonly ArchiveItem[];
  }>;
  /** Tools, gate, hooks and servers of a session without a conversation. */
  sessionParts(options: SessionPartsOptions): Promise<SessionParts>;
  /** Closes everything that was opened. */
  close(): Promise<void>;
}

export function openProject(cwd: string, options: ProjectOptions = {}): Project {
  const places = projectPlaces(cwd, options);
  const closers: (() => unknown)[] = [];
  const warn = options.warn ?? (() => undefined);
  const trust = once(() =>
    startTrust({
      ...places,
      asked: options.projectTrust,
      given: options.trust === 'given',
      warn: options.trustNotice === 'silent' ? () => undefined : warn,
    }),
  );
  const settings = once(async () => {
    const { now: trusted } = await trust();
    return await loadProjectSettings(places, options, trusted);
  });
  const rules = once(async () => projectRules(places, options, await settings()));
  const documents = once(async () =>
    documentPlaces(places, options, { settings: await settings(), rules: await rules() }),
  );
  const mcp = once(async () => {
    const { loadProjectServers } = await import('./mcp/mcp.js');
    const given = { settings: await settings(), trust: await trust() };
    return await loadProjectServers(places, options, given);
  });
  const archive = once(async () => openTranscripts(places.env));
  return {
    cwd: places.cwd,
    places,
    folderTrust: options.projectTrust ?? openProjectTrust(places),
    trustStore: openTrustStore(places),
    trust,
    settings,
    rules,
    hooks: once(async () => {
      const { captureHooks } = await import('../hooks/registry/capture.js');
      const { settings: effective, env } = await settings();
      return captureHooks({ values: effective.values, env, cwd: places.cwd });
    }),
    skills: once(async () => {
      const { openProjectSkills } = await import('./skills.js');
      const skills = await openProjectSkills(await documents(), await settings());
      closers.push(skills.close);
      return skills;
    }),
    agents: once(async () => {
      const { openProjectAgents } = await import('./agents.js');
      return await openProjectAgents(await documents(), options, await settings());
    }),
    async teams() {
      const { listTeams } = await import('../agents/teams/team.js');
      return listTeams(places.configDir);
    },
    mcp,
    async pendingServers() {
      const levels = lookAtLevels(places.cwd);
      return levels.some(({ hasServers }) => hasServers) ? (await mcp()).pending : [];
    },
    sandbox: once(async () => {
      const { openProjectSandbox } = await import('./sandbox.js');
      const sandbox = await openProjectSandbox(places, options, await settings());
      closers.push(sandbox.close);
      return sandbox;
    }),
    async context(how) {
      const { readProjectContext } = await import('./context.js');
      return await readProjectContext(places, options, how);
    },
    inbox: () => openInboxOf(places.env),
    async journal(session) {
      const { openProjectJournal } = await import('./journal.js');
      return openProjectJournal(places, session);
    },
    async changes(session) {
      const { openProjectChanges } = await import('./changes.js');
      const given = { session, settings: await settings() };
      const changes = await openProjectChanges(places, options, given);
      closers.push(() => changes.checkpoints.close());
      return changes;
    },
    async sessions() {
      const opened = await archive();
      return { archive: opened, items: await opened.list(projectKeyOf(places.cwd)) };
    },
    async sessionParts(how) {
      const { openSessionParts } = await import('./session-parts.js');
      const opened = await openSessionParts(places, options, how);
      closers.push(opened.close);
      return opened;
    },
    close: () => closeAll(closers.splice(0).reverse()),
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return () => {
    opening ??= open();
    return opening;
  };
}
