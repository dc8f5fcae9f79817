import { rmSync } from 'node:fs';
import type { SessionConfig } from '../../agents/session-config.js';
import { createProcessSupervisor } from '../../env/node-process.js';
import { basename, dirname, isInside, stateDirectory } from '../../env/paths.js';
import { type Ground, openGround, openLog } from '../../harness/ground.js';
import { type Hands, openHands } from '../../harness/hands.js';
import { openHookRunners } from '../../harness/hook-runners.js';
import { type OpenHooks, openHooks } from '../../harness/hooks.js';
import { openInstructions } from '../../harness/instructions.js';
import { openSandboxing } from '../../harness/sandbox.js';
import { openSkills } from '../../harness/skills.js';
import type { HookFacts } from '../../hooks/dispatch-input.js';
import { type ProbeOptions, type ProbeReport, probeGates } from '../../hooks/probe.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { createReadState } from '../../tools/read-state.js';
import { createWorkspace } from '../../tools/workspace.js';
import type { Output } from '../output.js';
import { type JudgeParts, lazyModel } from './hooks-model.js';

type Notice = Extract<SessionNews, { type: 'notice' }>;

/** A session's hooks, tools and gate without a conversation. */
export interface HookBench {
  readonly ground: Ground;
  readonly hooks: OpenHooks;
  readonly hands: Hands;
  readonly facts: HookFacts;
  /** What a person was told since it was opened. */
  notices(): readonly Notice[];
  probe(options: ProbeOptions): Promise<ProbeReport>;
  /** Waits for hooks that run beside the session: each ends within its own limit. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface BenchOptions {
  readonly cwd: string;
  readonly env: SessionConfig['env'];
  readonly trust: boolean;
  readonly settings?: string | undefined;
}

/** Opens what a session here would open. Throws where a session would not start. */
export async function openBench(options: BenchOptions, output: Output): Promise<HookBench> {
  const ear = createEar(output);
  const config: SessionConfig = {
    ...options,
    entrypoint: 'portcullis-hooks',
    start: { kind: 'new', id: undefined },
    fork: false,
    persist: false,
    emit: ear.hear,
  };
  const ground = await openGround(config);
  const log = await openLog(config, ground);
  const { sessionId } = log.history;
  const { layer, judge: judgeOf } = lazyModel(config, ground);
  const plain = createProcessSupervisor({ stateDirectory: stateDirectory(ground.env) });
  const sandbox = openSandboxing(config, ground, log);
  await sandbox.start();
  // As in a session: what fails inside the sandbox is to be seen here.
  const processes = sandbox.supervisor(plain, 'hook');
  const parts = { model: layer, log, processes };
  const hooks = openHooks(config, ground, { ...parts, current: { run: undefined } });
  const instructions = await openInstructions(config, ground);
  const { isHidden } = instructions;
  const skills = openSkills(config, ground, { hooks, processes, sessionId, isHidden });
  const hands = await openHands(config, ground, {
    ...parts,
    hooks,
    instructions,
    skills,
    // Servers are not started for a look at hooks.
    mcp: undefined,
  });
  sandbox.lend(hands.permissions.rules);
  const judge = judgeOf(() => judgeParts(ground, hands));
  hooks.lend({ mode: hands.permissions.mode, judge, callServer: undefined });
  ear.collect();
  const transcriptPath = log.store.transcriptPath(sessionId);
  const facts = { sessionId, transcriptPath };
  return {
    ground,
    hooks,
    hands,
    facts,
    notices: ear.notices,
    settled: ear.settled,
    async probe(how) {
      const settings = () => ground.settings;
      const of = { config, ground, model: layer, processes, sessionId, settings };
      const opened = openHookRunners({ ...of, judge: () => judge, callServer: () => undefined });
      const deps = { clock: ground.clock, emit: ear.hear, facts: () => facts };
      try {
        const runners = async () => opened.runners;
        return await probeGates({ ...deps, runners, hooks: hooks.snapshot() }, how);
      } finally {
        await opened.close();
      }
    },
    async close() {
      await hooks.close();
      await processes.killAll();
      await sandbox.close();
      hands.journal.close();
      log.store.close();
      forget(dirname(transcriptPath), ground.host.temporaryDirectory);
    },
  };
}

/** What agents of hooks look with: the session's own tools, behind its gate. */
function judgeParts(ground: Ground, hands: Hands): JudgeParts {
  return {
    calls: hands.around,
    tools: () => hands.builtins.pool.tools,
    workspace: () => createWorkspace([ground.workspace.cwd, ...ground.workspace.roots]),
    contextFor: (agent, workspace) => hands.contextOf(agent, workspace, createReadState()),
    onVerdict: () => undefined,
    depthLimit: 8,
  };
}

/** Nothing is kept, so the directory that was made for this run alone goes. */
function forget(directory: string, temporary: string): void {
  const isOurs = basename(directory).startsWith('portcullis-') && isInside(directory, temporary);
  if (isOurs) rmSync(directory, { recursive: true, force: true });
}

/** Hears what a session tells: at its opening for the person, later for the report. */
function createEar(output: Output) {
  const notices: Notice[] = [];
  const waiting: (() => void)[] = [];
  let isOpening = true;
  let running = 0;
  return {
    hear(news: Parameters<SessionConfig['emit']>[0]): void {
      if (news.type === 'hook_started') running++;
      if (news.type === 'hook_finished' && --running === 0) {
        // What a hook had to tell is told right after its end.
        setImmediate(() => {
          for (const resolve of waiting.splice(0)) resolve();
        });
      }
      if (news.type !== 'notice') return;
      if (!isOpening) notices.push(news);
      else if (news.level === 'warning') output.warn(news.text);
    },
    collect(): void {
      isOpening = false;
    },
    notices: (): readonly Notice[] => notices,
    settled: (): Promise<void> =>
      running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
}
