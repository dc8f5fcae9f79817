import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AnswerScope, PermissionUpdate, TraceStep } from '../../protocol/permissions.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { AskAnswer } from '../gate/types.js';
import type { CallView } from '../gate/view.js';
import type { ParsedRule, Rule } from '../rules/rules.js';
import type { Grants, Reach } from './grants.js';
import type { AnswerFiles } from './settings-file.js';
import { suggestFor } from './suggest.js';

export interface GivenAnswer {
  readonly view: CallView;
  readonly answer: Extract<AskAnswer, { behavior: 'allow' }>;
  /** Why the call is asked about whatever the rules allow; absent when an allow rule would open it. */
  readonly held: string | undefined;
}

interface Kept {
  /** What became of it, for the receipt. */
  readonly steps: readonly TraceStep[];
  /** Set when the answer carries a restriction that cannot be honoured. */
  readonly refused?: string;
}

/** Keeps what an answer says beyond the call it was given for. Never throws. */
export type KeepAnswer = (given: GivenAnswer) => Promise<Kept>;

/** What became of changes of the rules; `refused`: why none of them was made. */
export interface AppliedUpdates {
  readonly notes: readonly string[];
  readonly refused?: string;
}

export interface AnswerParts {
  readonly grants: Grants;
  readonly files: AnswerFiles;
  /** A rule for this session, or why it is none. */
  parse(kind: Rule['kind'], text: string): ParsedRule;
  /** Whether the rule would open the call next time. */
  opens(rule: Rule, view: CallView): Promise<boolean>;
  /** Set when an administrator lets no other rules grant than his own. */
  managedOnly(): string | undefined;
  applyUpdates(updates: readonly PermissionUpdate[], agent: AgentRef): Promise<AppliedUpdates>;
  now(): number;
  emit(news: SessionNews): void;
}

export function createKeeper(given: AnswerParts): KeepAnswer {
  const seen = new WeakSet<object>();
  return async ({ view, answer, held }) => {
    // One answer may settle several calls that waited for it; what becomes of it is told once.
    const parts = seen.has(answer) ? { ...given, emit: () => undefined } : given;
    seen.add(answer);
    const { scope, updatedPermissions = [] } = answer;
    const steps: TraceStep[] = [];
    const say = (reason: string): void => {
      steps.push({ guard: 'answer', decision: 'pass', reason });
    };
    if (updatedPermissions.length > 0) {
      const { notes, refused } = await parts.applyUpdates(updatedPermissions, view.call.agent);
      for (const note of notes) say(note);
      if (refused !== undefined) return { steps, refused };
    }
    if (scope !== undefined && scope.what !== 'call' && scope.until !== 'once') {
      say(await keepScope(parts, { view, scope, held }));
    }
    return { steps };
  };
}

interface Wider {
  readonly view: CallView;
  readonly scope: AnswerScope;
  readonly held: string | undefined;
}

/** The answer's scope, kept where it can be; otherwise it holds for this call, and the person is told. */
async function keepScope(parts: AnswerParts, wider: Wider): Promise<string> {
  const kept = await widen(parts, wider);
  if ('done' in kept) {
    if (kept.tell === true) parts.emit({ type: 'notice', level: 'info', text: kept.done });
    return kept.done;
  }
  const text = `the answer holds for this call alone: ${kept.why}`;
  parts.emit({ type: 'notice', level: 'warning', text });
  return text;
}

type Widened = { readonly done: string; readonly tell?: boolean } | { readonly why: string };

async function widen(parts: AnswerParts, { view, scope, held }: Wider): Promise<Widened> {
  const { call } = view;
  if (held !== undefined) return { why: `${held}, which is asked about every time` };
  const managed = parts.managedOnly();
  if (managed !== undefined) return { why: managed };
  if (scope.expiresAt !== undefined && scope.expiresAt <= parts.now()) {
    return { why: 'its end has passed already' };
  }
  const reach = reachOf(scope, call.agent);
  const text = await ruleFor(view, scope.what);
  const keepsFile = scope.until === 'project' || scope.until === 'user';
  if (
    scope.what === 'exact' &&
    !keepsFile &&
    (call.subject.command !== undefined || text === undefined)
  ) {
    parts.grants.addCall(call, reach);
    return { done: `this very call is allowed ${spanOf(scope)}` };
  }
  if (text === undefined) return { why: `no rule says ${WORDS[scope.what]} safely` };
  const parsed = parts.parse('allow', text);
  if ('why' in parsed) return { why: `the rule ${text} cannot be used: ${parsed.why}` };
  const { rule } = parsed;
  if (!(await parts.opens(rule, view))) {
    return { why: `the rule ${text} would not let the same call through next time` };
  }
  parts.grants.addRule(rule, reach);
  const what = `${text} (${describeRule(text)})`;
  if (!keepsFile) return { done: `${what} is allowed ${spanOf(scope)}` };
  if (scope.expiresAt !== undefined) {
    const done = `${what} is allowed ${spanOf({ ...scope, until: 'session' })}; settings files cannot hold an end, so it is not saved`;
    return { done, tell: true };
  }
  const saved = await parts.files.save(
    scope.until === 'project' ? 'localSettings' : 'userSettings',
    {
      kind: 'add',
      list: 'allow',
      items: [text],
    },
  );
  const done = saved.ok
    ? `${what} is allowed from now on: saved in ${saved.value}`
    : `${what} is allowed for this session; it was not saved, because ${saved.error}`;
  return { done, tell: true };
}

const WORDS = {
  exact: 'exactly this',
  prefix: '"calls like this"',
  tool: 'this tool',
  call: 'this',
};

async function ruleFor(view: CallView, what: AnswerScope['what']): Promise<string | undefined> {
  const { suggestions = {} } = await suggestFor(view);
  if (what === 'tool') return view.call.tool.needsPerson === true ? undefined : view.call.tool.name;
  return what === 'call' ? undefined : suggestions[what];
}

/** A background agent's answer stays its own; an agent that somebody waits for shares his. */
export function reachOf(
  { until, expiresAt }: Pick<AnswerScope, 'until' | 'expiresAt'>,
  agent: AgentRef,
): Reach {
  return {
    until: until === 'turn' ? 'turn' : 'session',
    expiresAt,
    ...(agent.background ? { agent: agent.path } : {}),
  };
}

function spanOf({ until, expiresAt }: AnswerScope): string {
  const span = until === 'turn' ? 'for this turn' : 'for this session';
  return expiresAt === undefined ? span : `${span}, until ${new Date(expiresAt).toISOString()}`;
}

/** What a rule lets through, in words: "every command that begins with `git push`". */
export function describeRule(rule: string): string {
  const found = /^([^()]+)\((.*)\)$/s.exec(rule.trim());
  if (found === null) return `every call of ${rule.trim()}`;
  const [, tool = '', spec = ''] = found;
  if (tool === 'Bash' || tool === 'PowerShell') return command(spec);
  const host = /^domain:(.+)$/.exec(spec)?.[1];
  if (host !== undefined) return `pages of ${host}`;
  if (tool === 'Read' || tool === 'Edit') return files(tool, spec);
  return `every call of ${tool} for ${plain(spec)}`;
}

function command(spec: string): string {
  const prefix = /^(.*?)(?: \*|:\*)$/s.exec(spec)?.[1];
  if (prefix !== undefined && !hasStar(prefix)) {
    return `every command that begins with \`${plain(prefix)}\``;
  }
  return hasStar(spec) ? `every command like \`${spec}\`` : `the command \`${plain(spec)}\` alone`;
}

function files(tool: 'Read' | 'Edit', spec: string): string {
  const doing = tool === 'Read' ? 'reading' : 'changing';
  const shown = spec.startsWith('//') ? spec.slice(1) : spec;
  if (shown.endsWith('/**')) return `${doing} every file below ${plain(shown.slice(0, -3))}`;
  if (shown === './*') return `${doing} every file directly in the working directory`;
  return hasStar(shown) ? `${doing} every file like ${shown}` : `${doing} ${plain(shown)}`;
}

function hasStar(text: string): boolean {
  return /(^|[^\\])\*/.test(text);
}

function plain(text: string): string {
  return text.replace(/\\([\\*()?[\]])/g, '$1');
}
