import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AnswerScope, PermissionUpdate, TraceStep } from '../../protocol/permissions.js';
import { runPipeline } from '../gate/evaluate.js';
import type { Resolver } from '../gate/guard.js';
import { STANDARD_RESOLVERS } from '../gate/resolvers.js';
import { type CallView, viewOf } from '../gate/view.js';
import type { Rule, RuleSet } from '../rules/rule.js';
import { answeredBefore, createGrants } from './grants.js';
import { createAnswerFiles } from './settings-file.js';
import { describeRule, suggestFor } from './suggest.js';
import {
  type AnswerContext,
  type AnsweringParts,
  type AppliedUpdates,
  applyUpdates,
  type GivenAnswer,
  type KeepAnswer,
  type Kept,
  parseAnswerRule,
  reachOf,
} from './updates.js';

export interface Answering {
  readonly keep: KeepAnswer;
  readonly resolver: Resolver;
  /** Changes rules, mode or directories as an answer of the main agent's would. */
  applyUpdates(updates: readonly PermissionUpdate[], agent: AgentRef): Promise<AppliedUpdates>;
  /** The rules of answers. */
  rules(agent: AgentRef): RuleSet;
  beginTurn(): void;
  /** An agent has ended: what was answered for it alone is over. */
  forget(agentPath: string): void;
}

/** Everything that makes an answer reach further than its call. */
export function openAnswering(parts: AnsweringParts): Answering {
  const grants = createGrants(parts.clock.now, parts.contentOf);
  const save = createAnswerFiles({ cwd: parts.cwd, ...parts.targets });
  const context: AnswerContext = { ...parts, grants, save };
  const seen = new WeakSet<object>();
  return {
    applyUpdates: (updates, agent) => applyUpdates(context, updates, agent),
    keep(given) {
      // One answer may settle several calls that waited for it; what becomes of it is told once.
      const isTold = seen.has(given.answer);
      seen.add(given.answer);
      return keepAnswer(isTold ? { ...context, emit: () => undefined } : context, given);
    },
    resolver: answeredBefore(grants),
    rules: grants.rules,
    beginTurn: grants.beginTurn,
    forget: grants.forget,
  };
}

async function keepAnswer(
  parts: AnswerContext,
  { view, answer, held }: GivenAnswer,
): Promise<Kept> {
  const { scope, updatedPermissions = [] } = answer;
  const steps: TraceStep[] = [];
  const say = (reason: string): void => {
    steps.push({ guard: 'answer', decision: 'pass', reason });
  };
  const { notes, refused } = await applyUpdates(parts, updatedPermissions, view.call.agent);
  for (const note of notes) say(note);
  if (refused !== undefined) return { steps, refused };
  if (scope !== undefined && scope.what !== 'call' && scope.until !== 'once') {
    say(await keepScope(parts, { view, scope, held }));
  }
  return { steps };
}

interface Wider extends Omit<GivenAnswer, 'answer'> {
  readonly scope: AnswerScope;
}

/** The answer's scope, kept where it can be; otherwise it holds for this call, and the person is told. */
async function keepScope(parts: AnswerContext, wider: Wider): Promise<string> {
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

async function widen(parts: AnswerContext, { view, scope, held }: Wider): Promise<Widened> {
  const { call } = view;
  if (held !== undefined) return { why: `${held}, which is asked about every time` };
  const managed = parts.managedOnly();
  if (managed !== undefined) return { why: managed };
  if (scope.expiresAt !== undefined && scope.expiresAt <= parts.clock.now()) {
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
  const parsed = parseAnswerRule(parts, 'allow', text);
  if ('why' in parsed) return { why: `the rule ${text} cannot be used: ${parsed.why}` };
  const { rule } = parsed;
  if (!(await opensCall(rule, view, parts))) {
    return { why: `the rule ${text} would not let the same call through next time` };
  }
  parts.grants.addRule(rule, reach);
  const what = `${text} (${describeRule(text)})`;
  if (!keepsFile) return { done: `${what} is allowed ${spanOf(scope)}` };
  if (scope.expiresAt !== undefined) {
    const done = `${what} is allowed ${spanOf({ ...scope, until: 'session' })}; settings files cannot hold an end, so it is not saved`;
    return { done, tell: true };
  }
  const destination = scope.until === 'project' ? 'localSettings' : 'userSettings';
  const saved = await parts.save(destination, { kind: 'add', list: 'allow', items: [text] });
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

function spanOf({ until, expiresAt }: AnswerScope): string {
  const span = until === 'turn' ? 'for this turn' : 'for this session';
  return expiresAt === undefined ? span : `${span}, until ${new Date(expiresAt).toISOString()}`;
}

/** Whether a rule would have let a call through that no guard held back and nothing allowed. */
async function opensCall(
  rule: Rule,
  view: CallView,
  { fs, clock }: AnswerContext,
): Promise<boolean> {
  const { call, mode, home, rules, facts } = view;
  const tried = viewOf(call, {
    fs,
    home,
    mode,
    facts,
    rules: { ...rules, allow: [rule, ...rules.allow] },
  });
  const { outcome } = await runPipeline(tried, {
    guards: [],
    resolvers: STANDARD_RESOLVERS,
    clock,
  });
  return outcome.kind === 'allowed';
}
