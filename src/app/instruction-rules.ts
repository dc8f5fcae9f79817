import type { SessionConfig } from '../agents/core/session-config.js';
import type { EnforcedRules } from '../context/enforced/enforced.js';
import { joinEnforced } from '../context/enforced/policy.js';
import type { InstructionBook } from '../context/instructions/book.js';
import { originOf } from '../lib/sourced.js';
import { parseRules, type RuleSet } from '../permissions/rules/rules.js';
import { refuseBroken } from '../settings/files/refuse.js';
import { type ConfigProblem, describeProblem, type SourcedRule } from '../settings/types.js';

type Texts = Pick<EnforcedRules, 'deny' | 'ask'>;

interface Compiled {
  readonly rules: RuleSet;
  readonly problems: readonly ConfigProblem[];
}

export type CompileEnforced = (rules: Texts) => Compiled;

/** A path in a project's file is seen from the directory that the file speaks for, wherever work began. */
export function enforcedCompiler(cwd: string, home: string): CompileEnforced {
  const placeOf = ({ source, value }: SourcedRule): string =>
    source === 'project' || source === 'local' ? value.root : cwd;
  return ({ deny, ask }) => {
    const places = [...new Set([...deny, ...ask].map(placeOf))];
    const parts = places.map((place) => {
      const isHere = (rule: SourcedRule): boolean => placeOf(rule) === place;
      const texts = { allow: [], deny: deny.filter(isHere), ask: ask.filter(isHere) };
      return parseRules(texts, { cwd: place, home });
    });
    return {
      rules: {
        allow: [],
        deny: parts.flatMap(({ rules }) => rules.deny),
        ask: parts.flatMap(({ rules }) => rules.ask),
      },
      problems: parts.flatMap(({ problems }) => problems),
    };
  };
}

export interface EnforcedInForce {
  /** The same object while nothing changes. */
  rules(): RuleSet;
  /** Looks whether the files say something else by now. */
  refresh(): Promise<void>;
}

/**
 * The restrictions of the files that hold from the start. fail-closed: one that cannot be honoured
 * stops the start; later changes only add, and what cannot be honoured then is told.
 */
export async function openEnforced(
  config: Pick<SessionConfig, 'emit'>,
  parts: {
    readonly book: Pick<InstructionBook, 'enforced' | 'enforcedAgain'>;
    readonly compile: CompileEnforced;
    /** What else was wrong at the start. */
    readonly problems: readonly ConfigProblem[];
  },
): Promise<EnforcedInForce> {
  const { book, compile } = parts;
  const atStart = await book.enforced();
  const started = compile(atStart);
  refuseBroken([...parts.problems, ...atStart.problems, ...started.problems], config.emit);
  let texts: Texts = atStart;
  let rules = started.rules;
  const warn = (text: string): void => config.emit({ type: 'notice', level: 'warning', text });
  const told = new Set<string>();
  return {
    rules: () => rules,
    async refresh() {
      const now = await book.enforcedAgain();
      if (now === undefined) return;
      const { rules: joined, gone } = joinEnforced(texts, now);
      const compiled = compile(joined);
      const broken = [...now.problems, ...compiled.problems].filter(
        ({ severity }) => severity === 'fatal',
      );
      texts = joined;
      rules = compiled.rules;
      for (const problem of broken) {
        warn(`${describeProblem(problem)} The restrictions of before hold.`);
      }
      for (const rule of gone) {
        const text = `${rule.value.text} (${originOf(rule)})`;
        if (broken.length > 0 || told.has(text)) continue;
        told.add(text);
        warn(`${text} was taken out of its file; it holds until the session ends`);
      }
    },
  };
}
