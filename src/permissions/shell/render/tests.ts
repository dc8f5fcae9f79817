import type { TestCommand, TestExpression, Word } from 'unbash';
import { unreachable } from '../../../lib/result.js';
import { refuse } from './refusal.js';
import { addQuoted, checkContiguous, Pieces, renderWord } from './words.js';
import type { RenderContext } from './writer.js';

const UNARY = /^-[abcdefghknoprstuvwxzGLNORS]$/;
const BINARY = /^(?:==?|!=|=~|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** A `[[ … ]]` test. */
export function renderTest({ expression, pos, end }: TestCommand, context: RenderContext): string {
  context.source.expect(pos, expression.pos, '[[');
  context.source.expect(expression.end, end, ']]');
  return `[[ ${render(expression, context)} ]]`;
}

function render(expression: TestExpression, context: RenderContext): string {
  const { source } = context;
  switch (expression.type) {
    case 'TestUnary': {
      const { operator, operand, pos } = expression;
      if (!UNARY.test(operator)) refuse('construct', 'has an unknown test');
      // A word alone is tested for being empty.
      if (source.between(pos, operand.pos) !== '') source.expect(pos, operand.pos, operator);
      return `${operator} ${renderWord(operand, context, 'pattern')}`;
    }
    case 'TestBinary': {
      const { operator, left, right } = expression;
      if (!BINARY.test(operator)) refuse('construct', 'has an unknown test');
      source.expect(left.end, right.pos, operator);
      const rendered =
        operator === '=~' ? renderRegExp(right, context) : renderWord(right, context, 'pattern');
      return `${renderWord(left, context, 'pattern')} ${operator} ${rendered}`;
    }
    case 'TestLogical': {
      const { operands, operator } = expression;
      operands.forEach((operand, at) => {
        const before = operands[at - 1];
        if (before !== undefined) source.expect(before.end, operand.pos, operator);
      });
      return operands.map((operand) => render(operand, context)).join(` ${operator} `);
    }
    case 'TestNot': {
      const { operand, pos } = expression;
      source.expect(pos, operand.pos, '!');
      return `! ${render(operand, context)}`;
    }
    case 'TestGroup': {
      const { expression: inner, pos, end } = expression;
      source.expect(pos, inner.pos, '(');
      source.expect(inner.end, end, ')');
      return `( ${render(inner, context)} )`;
    }
    default:
      return unreachable(expression);
  }
}

/** Unquoted text of a regular expression keeps its meaning only bare. */
const BARE_REGEXP = /^(?:[\w.^*+?[\](){}|,:@%=/-]|\\[.[\](){}*+?^$|/\\\- wsbdWSBD]|\$(?=$|[)|]))*$/;

function renderRegExp(word: Word, context: RenderContext): string {
  if (context.source.slice(word) !== word.text)
    refuse('ambiguous', 'has a word read from elsewhere');
  const { parts } = word;
  if (parts === undefined) return bare(word.text);
  checkContiguous(parts, word);
  const pieces = new Pieces();
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
        pieces.bare(bare(part.text));
        break;
      case 'SingleQuoted':
        pieces.literal(part.value);
        break;
      case 'DoubleQuoted':
        addQuoted(part.parts, pieces, context);
        break;
      case 'SimpleExpansion':
      case 'ParameterExpansion':
      case 'CommandExpansion':
        pieces.bare(context.expansion(part, context, 'bare'));
        break;
      default:
        refuse('quoting', 'has unusual text in a regular expression');
    }
  }
  return pieces.text;
}

function bare(text: string): string {
  return BARE_REGEXP.test(text)
    ? text
    : refuse('quoting', 'has unusual text in a regular expression');
}
