import type { ArithmeticExpression, ArithmeticWord } from 'unbash';
import { unreachable } from '../../../lib/result.js';
import { refuse } from './refusal.js';
import { renderIndex } from './words.js';
import type { RenderContext } from './writer.js';

const OPERATOR =
  /^(?:[-+*/%&|^=<>!~,]|\*\*|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|(?:[-+*/%&|^]|<<|>>)=)$/;
const NUMBER_OR_NAME = /^(?:[A-Za-z_]\w*|\d+|0[xX][0-9a-fA-F]+|\d+#\w+)$/;

/** Arithmetic with all of its brackets. `raw` is the text it was read from. */
export function renderArithmetic(
  expression: ArithmeticExpression,
  raw: string,
  context: RenderContext,
): string {
  const read = partsOf(expression, context);
  // fail-closed: whatever the parser left out bash would not.
  if (read.replace(/[\s()]/g, '') !== raw.replaceAll('\\\n', '').replace(/[\s()]/g, '')) {
    refuse('ambiguous', 'has arithmetic that was not read whole');
  }
  return render(expression, context);
}

function render(expression: ArithmeticExpression, context: RenderContext): string {
  switch (expression.type) {
    case 'ArithmeticBinary': {
      const { left, operator, right } = expression;
      return `(${render(left, context)} ${known(operator)} ${render(right, context)})`;
    }
    case 'ArithmeticUnary': {
      const operand = render(expression.operand, context);
      const operator = known(expression.operator);
      return expression.prefix ? `(${operator}${operand})` : `(${operand}${operator})`;
    }
    case 'ArithmeticTernary': {
      const { test, consequent, alternate } = expression;
      return `(${render(test, context)} ? ${render(consequent, context)} : ${render(alternate, context)})`;
    }
    case 'ArithmeticGroup': {
      const inner = render(expression.expression, context);
      return inner.startsWith('(') ? inner : `(${inner})`;
    }
    case 'ArithmeticWord':
      return renderArithmeticWord(expression, context);
    case 'ArithmeticCommandExpansion':
      return refuse('construct', 'has a command in arithmetic');
    default:
      return unreachable(expression);
  }
}

function renderArithmeticWord({ value, parts }: ArithmeticWord, context: RenderContext): string {
  if (parts === undefined) {
    const { name, key } = /^(?<name>[A-Za-z_]\w*)\[(?<key>\w+)\]$/.exec(value)?.groups ?? {};
    if (name !== undefined) return `${name}[${key}]`;
    return NUMBER_OR_NAME.test(value) ? value : refuse('quoting', 'has unusual text in arithmetic');
  }
  return parts
    .map((part) => {
      switch (part.type) {
        case 'Literal':
          return /^(?:\w+|\w+\[|\])$/.test(part.text)
            ? part.text
            : refuse('quoting', 'has unusual text in arithmetic');
        case 'SimpleExpansion':
        case 'CommandExpansion':
          return context.expansion(part, context, 'bare');
        case 'ParameterExpansion':
          if (part.operation !== undefined)
            refuse('quoting', 'has a changed variable in arithmetic');
          if (part.index !== undefined) renderIndex(part.index, context);
          return context.expansion(part, context, 'bare');
        default:
          return refuse('quoting', 'has quotes in arithmetic');
      }
    })
    .join('');
}

function known(operator: string): string {
  return OPERATOR.test(operator) ? operator : refuse('construct', 'has an unknown operator');
}

/** The words and operators of an expression, as written and in their order. */
function partsOf(expression: ArithmeticExpression, context: RenderContext): string {
  switch (expression.type) {
    case 'ArithmeticBinary':
      return (
        partsOf(expression.left, context) + expression.operator + partsOf(expression.right, context)
      );
    case 'ArithmeticUnary': {
      const operand = partsOf(expression.operand, context);
      return expression.prefix ? expression.operator + operand : operand + expression.operator;
    }
    case 'ArithmeticTernary': {
      const { test, consequent, alternate } = expression;
      return `${partsOf(test, context)}?${partsOf(consequent, context)}:${partsOf(alternate, context)}`;
    }
    case 'ArithmeticGroup':
      return partsOf(expression.expression, context);
    case 'ArithmeticWord':
    case 'ArithmeticCommandExpansion':
      return context.source.slice(expression);
    default:
      return unreachable(expression);
  }
}
