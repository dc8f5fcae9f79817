import type { CommandPattern, Malformed, RuleKind, RuleSpec } from './rule.js';
import { commandTokens, type Token } from './wildcard.js';

interface CommandContext {
  readonly kind: RuleKind;
  /** The tool that the rule is for. */
  readonly tool: string;
  readonly home: string;
}

/** What a rule for commands covers, or why it could never cover one. */
export function commandSpec(spec: string, context: CommandContext): RuleSpec | Malformed {
  const problem = commandProblem(spec, context);
  if (problem !== undefined) return problem;
  const pattern = parseCommandPattern(spec);
  if (context.kind === 'allow') return { kind: 'command', pattern };
  const expanded = spec.replace(HOME, context.home);
  const also = expanded === spec ? undefined : parseCommandPattern(expanded);
  return { kind: 'command', pattern: { ...pattern, asWritten: SYNTAX.test(spec) }, also };
}

export function parseCommandPattern(spec: string): CommandPattern {
  // Words are compared with one blank between them; inside quotes blanks are part of a word.
  const text =
    /["']/.test(spec) || !spec.includes('*') ? spec.trim() : spec.trim().replace(/\s+/g, ' ');
  const prefix = /^(.*?)\s*(?::\*| \*)$/s.exec(text)?.[1];
  if (prefix !== undefined && prefix !== '') {
    return { text, tokens: [...commandTokens(prefix), ...WORD_END] };
  }
  const tokens = commandTokens(text);
  return isOpen(tokens)
    ? { text, tokens }
    : { text: tokens.map((token) => (token.kind === 'char' ? token.char : '')).join('') };
}

/** Commands are matched with one blank after their last word, so this is "end of word, then anything". */
export const WORD_END: readonly Token[] = [{ kind: 'char', char: ' ' }, { kind: 'star' }];

function isOpen(tokens: readonly Token[]): boolean {
  return tokens.some(({ kind }) => kind === 'star');
}

/** A home directory that the shell puts in place of a name. */
const HOME = /(?<=^|\s)~(?=\/|$)|\$HOME\b|\$\{HOME\}/g;

/** Signs that the shell takes away, replaces or ends a command with. */
const SYNTAX = /["'$`\\~|&;<>(){}]|^\s*[A-Za-z_]\w*=/;

const KEYWORD =
  /^\s*(!|\{|\}|\[\[|\]\]|case|coproc|do|done|elif|else|esac|fi|for|function|if|select|then|until|while)(\s.*)?(:| )\*\s*$/s;

/**
 * Why a rule covers no command that it spells. fail-closed: a restriction without effect stops the start.
 * Text without a wildcard is compared as it is written, so little is wrong with it.
 */
function commandProblem(spec: string, { kind, tool }: CommandContext): Malformed | undefined {
  const text = spec.trim();
  const isPattern = isOpen(commandTokens(text));
  const [program = ''] = /^(?:'[^']*'|\\[*()\\]|[^\s*])+?(?=\s|\*|:\*$|$)/.exec(text) ?? [];
  const isRestriction = kind !== 'allow';
  // A whole line may begin with `for`.
  if (isRestriction && KEYWORD.test(spec)) {
    return {
      why: 'it begins with a word of the shell language, which no command does',
      remedy: `Write ${tool}(command *) with the command that it is about.`,
    };
  }
  if (isRestriction && /^![^\s=]/.test(text)) {
    return {
      why: 'rules have no exceptions, and whatever another rule covers stays covered',
      remedy: 'Remove it, and list what is meant.',
    };
  }
  const names = program.split(/[|{},]/).filter(Boolean);
  const isPlain = names.length > 1 && names.every((name) => /^[\w./-]+$/.test(name));
  const isList = isPlain && /^[^{]*[|,]|^\{.*,.*\}$/.test(program);
  if (isList && (isPattern || (isRestriction && (program === text || program.startsWith('{'))))) {
    return {
      why: `${program} is not one of several programs`,
      remedy: `Write a rule for each: ${names.map((name) => `${tool}(${name} *)`).join(', ')}.`,
    };
  }
  if (/^[\w-]{2,}:/.test(program)) {
    return {
      why: 'no program has a colon in its name',
      remedy: `Write ${tool}(${text.replace(/:\s*/, ' ')}).`,
    };
  }
  if (isRestriction && /^command=|\*\s*,\s*[\w./-]+ /.test(text)) {
    return {
      why: 'it is compared with a command as a whole',
      remedy: `Write a rule for each command: ${tool}(rm *), ${tool}(mv *).`,
    };
  }
  const isExpression = isRestriction && (/^\^|.,$/.test(program) || /^\/\S*\/$/.test(text));
  if (isExpression || (isPattern && isOddProgram(program))) {
    return {
      why: `no program is called ${program}`,
      remedy: `Write ${tool}(program *) with its name as it is, without quotes, sets and backslashes.`,
    };
  }
  const never =
    isPattern && !isRestriction ? NEVER_IN_ONE.exec(withoutQuoted(text))?.[0] : undefined;
  if (never === undefined) return undefined;
  return {
    why: `${never.trim()} is no part of a command as the shell runs it, and grants with * are compared with that`,
    remedy:
      'Write a rule for each command with its words as they are run, or the whole line without *.',
  };
}

/** Quotes around a plain name, sets, and backslashes: the shell runs something else. */
function isOddProgram(program: string): boolean {
  if (program === '[') return false;
  const bare = program.replace(/\\[*()\\]/g, '');
  return (
    /["[\]?^\\]|[{}|]/.test(bare.replace(/'[^']*'|\$\{\w+\}/g, '')) ||
    /^'([\w./-]*|.*\*)'/.test(bare)
  );
}

function withoutQuoted(text: string): string {
  return text.replace(/'[^']*('|$)|\\[*()\\]/g, '');
}

/** Operators between commands, assignments, redirections, and what the shell puts something else in place of. */
const NEVER_IN_ONE =
  /^[A-Za-z_]\w*=\S*|(?<=^|\s)(?:&&|\|\|?|;|&|\d*>{1,2}|<{1,3}|\d*>&\d)(?=\s|$)|;(?=\s)|(?<=\s)\d*>[&/\w]\S*|(?<=^|\s)~\/|\$[\w{(]\S*|["`]/;
