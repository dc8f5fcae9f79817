import type { Clock } from '../platform/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import { type AnswerFileParts, createAnswerFiles } from './answer-files.js';
import { type AnswerParts, createKeeper, type KeepAnswer } from './answers.js';
import { answeredBefore, createGrants, createRuleJoin } from './grants.js';
import type { Resolver } from './guard.js';
import type { PathFileSystem } from './paths.js';
import { parseRule, type RuleSet } from './rules.js';
import { opensCall } from './try-rule.js';
import { createUpdates } from './updates.js';

/** What answers may change beyond the rules of the session. */
export interface AnswerTargets extends Omit<AnswerFileParts, 'cwd'> {
  addDirectory(directory: string): void;
  removeDirectory(directory: string): void;
}

export interface AnsweringParts {
  readonly fs: PathFileSystem;
  readonly clock: Clock;
  readonly cwd: string;
  readonly home: string;
  readonly targets: AnswerTargets;
  /** Of the session, now. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  managedOnly(): string | undefined;
  emit(news: SessionNews): void;
  /** What a call was judged with besides its input. */
  contentOf?(toolUseId: string): string | undefined;
}

export interface Answering {
  readonly keep: KeepAnswer;
  readonly resolver: Resolver;
  /** Changes rules, mode or directories as an answer of the main agent's would. */
  readonly applyUpdates: AnswerParts['applyUpdates'];
  /** The rules of the settings with those of answers. */
  withAnswers(base: RuleSet, agent: AgentRef): RuleSet;
  beginTurn(): void;
  /** An agent has ended: what was answered for it alone is over. */
  forget(agentPath: string): void;
}

/** Everything that makes an answer reach further than its call. */
export function openAnswering(parts: AnsweringParts): Answering {
  const { fs, clock, cwd, home, targets, managedOnly, emit } = parts;
  const grants = createGrants(clock.now, parts.contentOf);
  const files = createAnswerFiles({ cwd, ...targets });
  const join = createRuleJoin();
  const parse: Parameters<typeof createKeeper>[0]['parse'] = (kind, text) => {
    const origin = { value: { text, root: cwd }, source: 'answer', trusted: true } as const;
    return parseRule(kind, origin, { cwd, home });
  };
  const applyUpdates = createUpdates({
    grants,
    files,
    cwd,
    home,
    parse,
    managedOnly,
    emit,
    mode: parts.mode,
    setMode: parts.setMode,
    addDirectory: targets.addDirectory,
    removeDirectory: targets.removeDirectory,
  });
  return {
    applyUpdates,
    keep: createKeeper({
      grants,
      files,
      parse,
      managedOnly,
      applyUpdates,
      emit,
      now: clock.now,
      opens: (rule, view) => opensCall(rule, view, { fs, clock }),
    }),
    resolver: answeredBefore(grants),
    withAnswers: (base, agent) => join(base, grants.rules(agent)),
    beginTurn: grants.beginTurn,
    forget: grants.forget,
  };
}
