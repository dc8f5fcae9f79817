import {
  type BackgroundResult,
  type DispatchDeps,
  HookDispatcher,
} from '../../src/hooks/dispatch/dispatcher.js';
import { type CaptureSource, captureHooks } from '../../src/hooks/registry/capture.js';
import type { HookSnapshot, ScopedHooks } from '../../src/hooks/registry/captured.js';
import type { ReadAnswer } from '../../src/hooks/registry/hook.js';
import {
  type Hook,
  type HookAnswer,
  type HookRaw,
  type HookRequest,
  type HookRunners,
  NO_ANSWER,
  type Occasion,
} from '../../src/hooks/registry/hook.js';
import type { SettingSource, Sourced } from '../../src/lib/sourced.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { SessionNews } from '../../src/protocol/session-events.js';
import type { SettingValues } from '../../src/settings/types.js';

export const PROJECT = '/there/p';

export function sourced(value: unknown, source: SettingSource = 'project', line = 1) {
  const file =
    source === 'user' ? '/home/u/.claude/settings.json' : `${PROJECT}/.claude/settings.json`;
  return {
    value,
    source,
    file: source === 'managed' ? '/etc/managed.json' : file,
    line,
    trusted: true,
  };
}

/** Settings as merged; `hooks.<Event>` are lists, the rest are single values. */
export function settings(
  lists: Readonly<Record<string, readonly Sourced<unknown>[]>> = {},
  single: Readonly<Record<string, Sourced<unknown>>> = {},
): SettingValues {
  return {
    get: (key) => single[key],
    list: (key) => lists[key] ?? [],
    said: (key) => (single[key] === undefined ? [] : [single[key]]),
    has: (key) => single[key] !== undefined || lists[key] !== undefined,
  };
}

export function command(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return { type: 'command', command: text, ...more };
}

export function group(hooks: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return { hooks, ...more };
}

/** Hooks of one event, each in a group of its own, a line each. */
export function hooksOf(
  event: string,
  handlers: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): SettingValues {
  return settings({
    [`hooks.${event}`]: handlers.map((handler, index) =>
      sourced(group([handler], more), 'project', index + 1),
    ),
  });
}

export function capture(values: SettingValues, more: Partial<CaptureSource> = {}): HookSnapshot {
  return captureHooks({ values, cwd: PROJECT, ...more });
}

export function agentAt(path: string): AgentRef {
  const names = path.split('/');
  const type = (names.at(-1) ?? path).replace(/#\d+$/, '');
  return { id: `id-${path}`, type, path, depth: names.length - 1, background: false };
}

export function occasion(more: Partial<Occasion> = {}): Occasion {
  return {
    agent: MAIN_AGENT,
    cwd: PROJECT,
    matched: ['Bash'],
    fields: { tool_name: 'Bash', tool_input: { command: 'ls' } },
    signal: new AbortController().signal,
    ...more,
  };
}

export type Behaviour = (hook: Hook, request: HookRequest) => Promise<HookRaw>;

export function answers(answer: Partial<HookAnswer>): HookRaw {
  return { kind: 'value', value: answer };
}

export function exits(exitCode: number, stdout = '', stderr = ''): HookRaw {
  return { kind: 'process', exitCode, signal: null, stdout, stderr };
}

/** Every kind of hook behaves so. */
export function runnersOf(behave: Behaviour): HookRunners {
  return {
    command: behave,
    http: behave,
    mcp_tool: behave,
    prompt: behave,
    agent: behave,
    callback: behave,
  };
}

/** Takes a value for the answer itself and knows the exit codes. */
export function plainReader(_hook: Hook, raw: HookRaw): ReadAnswer {
  if (raw.kind === 'value') return { answer: { ...NO_ANSWER, ...(raw.value as object) } };
  if (raw.kind === 'failed') return { answer: NO_ANSWER, failure: raw.failure };
  if (raw.kind !== 'process') throw new Error('unexpected');
  switch (raw.exitCode) {
    case 0:
      return { answer: { ...NO_ANSWER, text: raw.stdout } };
    case 1:
      return { answer: NO_ANSWER, complaint: raw.stderr };
    case 2:
      return { answer: { ...NO_ANSWER, decision: 'deny', reason: raw.stderr } };
    default:
      return { answer: NO_ANSWER, failure: { cause: 'exit-code', message: `${raw.exitCode}` } };
  }
}

export interface DispatchRig {
  readonly dispatch: HookDispatcher;
  readonly news: SessionNews[];
  readonly late: BackgroundResult[];
  /** What hooks were asked, in the order of their start. */
  readonly asked: { readonly hook: Hook; readonly request: HookRequest }[];
  notices(tag?: string): readonly string[];
}

export function dispatchRig(
  snapshot: HookSnapshot,
  behave: Behaviour = async () => answers({}),
  more: Partial<DispatchDeps> = {},
): DispatchRig {
  const news: SessionNews[] = [];
  const late: BackgroundResult[] = [];
  const asked: DispatchRig['asked'] = [];
  let runs = 0;
  const dispatch = new HookDispatcher(
    {
      runners: async () =>
        runnersOf((hook, request) => {
          asked.push({ hook, request });
          return behave(hook, request);
        }),
      read: plainReader,
      facts: () => ({ sessionId: 's1', transcriptPath: '/t/s1.jsonl' }),
      clock: { monotonic: () => performance.now(), uuid: () => `run-${++runs}` },
      emit: (one) => void news.push(one),
      background: (result) => void late.push(result),
      ...more,
    },
    snapshot,
  );
  const notices = (tag?: string): readonly string[] =>
    news.flatMap((one) =>
      one.type === 'notice' && (tag === undefined || one.tag === tag) ? [one.text] : [],
    );
  return { dispatch, news, late, asked, notices };
}

export const SKILL: ScopedHooks = {
  kind: 'skill',
  name: 'deploy',
  source: 'project',
  trusted: true,
  file: `${PROJECT}/.claude/skills/deploy/SKILL.md`,
  hooks: { PreToolUse: [group([command('./skill.sh')])] },
};

export function agentHooks(agentId: string, hooks: unknown): ScopedHooks {
  return { kind: 'agent', name: 'reviewer', source: 'user', trusted: true, agentId, hooks };
}

/** Opens for all that wait when this many do. */
export function barrier(count: number): { arrive(): Promise<void>; readonly waiting: number } {
  let waiting = 0;
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    async arrive() {
      waiting++;
      if (waiting === count) open();
      await opened;
    },
    get waiting() {
      return waiting;
    },
  };
}
