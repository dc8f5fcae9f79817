import type { ParameterExpansionPart, ParameterOperation, Word } from 'unbash';
import { unreachable } from '../../../lib/result.js';
import { renderArithmetic } from './arithmetic.js';
import { refuse } from './refusal.js';
import { bracketed, renderIndex, renderOperand, renderPattern } from './words.js';
import type { Expansion, Quoting, RenderContext } from './writer.js';

const PARAMETER = /^(?:[A-Za-z_]\w*|\d+|[@*#?$!-])$/;

/** An expansion as it is written inside the quotes it stands in. */
export function renderExpansion(part: Expansion, context: RenderContext, quoting: Quoting): string {
  if (context.source.slice(part) !== part.text) refuse('ambiguous', 'has text read from elsewhere');
  switch (part.type) {
    case 'SimpleExpansion': {
      const name = part.text.slice(1);
      if (!PARAMETER.test(name)) refuse('ambiguous', 'has a variable with an unusual name');
      return `\${${name}}`;
    }
    case 'ParameterExpansion':
      return renderParameter(part, context, quoting);
    case 'CommandExpansion': {
      const { script, text } = part;
      if (script === undefined) refuse('syntax', 'has a substitution that was not read');
      if (text.startsWith('`') && text.includes('\\') && quoting !== 'bare') {
        refuse('quoting', 'has backslashes between backquotes inside quotes');
      }
      if (!/^(?:`[\s\S]*`|\$\([\s\S]*\))$/.test(text)) {
        refuse('construct', 'has a substitution that not every shell knows');
      }
      return `$${bracketed(context.code(script, context))}`;
    }
    case 'ArithmeticExpansion':
      if (
        part.expression === undefined ||
        !/^(?:\$\(\([\s\S]*\)\)|\$\[[\s\S]*\])$/.test(part.text)
      ) {
        refuse('construct', 'has arithmetic that was not read');
      }
      return `$(( ${renderArithmetic(part.expression, part.text.slice(part.text[1] === '[' ? 2 : 3, part.text[1] === '[' ? -1 : -2), context)} ))`;
    default:
      return unreachable(part);
  }
}

function renderParameter(
  part: ParameterExpansionPart,
  context: RenderContext,
  quoting: Quoting,
): string {
  const { parameter, prefix = '', index, operation } = part;
  if (!PARAMETER.test(parameter)) refuse('ambiguous', 'has a variable with an unusual name');
  if (prefix !== '' && !/^(?:[A-Za-z_]\w*|\d+|[@*])$/.test(parameter)) {
    refuse('construct', 'has an unusual expansion of a variable');
  }
  if (/^[#?$!-]$/.test(parameter) && operation !== undefined) {
    refuse('construct', 'has an unusual expansion of a variable');
  }
  const subscript = index === undefined ? '' : `[${renderIndex(index, context)}]`;
  const rest = operation === undefined ? '' : renderOperation(operation, context, quoting);
  const rendered = `\${${prefix}${parameter}${subscript}${rest}}`;
  // fail-closed: whatever else is between the braces was not read.
  if (operation === undefined && index === undefined && part.text !== rendered) {
    refuse('ambiguous', 'has text in a variable that was not read');
  }
  return rendered;
}

function renderOperation(
  operation: ParameterOperation,
  context: RenderContext,
  quoting: Quoting,
): string {
  switch (operation.type) {
    case 'Default': {
      const { operator, operand } = operation;
      if (operator.endsWith('=') && (operand.parts?.length ?? 0) > 1) {
        refuse('quoting', 'sets a variable to text of several parts while it expands it');
      }
      if (/^~|:~/.test(operand.text)) refuse('quoting', 'has a home directory in a variable');
      return operator + renderOperand(operand, context, quoting);
    }
    case 'Remove':
      return operation.operator + renderPattern(operation.operand, context, quoting);
    case 'Replace': {
      const { operator, pattern, replacement } = operation;
      if (/`|[$<>]\(/.test(context.source.slice(operation))) {
        refuse('ambiguous', 'uses a command inside a replacement in a variable');
      }
      const from = renderPattern(pattern, context, quoting);
      const to = renderReplacement(replacement, context, quoting);
      return `${operator}${from}/${to}`;
    }
    case 'Slice': {
      const { offset, length } = operation;
      const end = length === undefined ? '' : `:${renderNumber(length, context)}`;
      return `:${renderNumber(offset, context)}${end}`;
    }
    case 'CaseModification': {
      const { operator, operand } = operation;
      return operator + (operand === undefined ? '' : renderPattern(operand, context, quoting));
    }
    case 'Transform':
      if (!/^[QEAKakuUL]$/.test(operation.operand.text)) {
        refuse('construct', 'has a transformation of a variable that runs code');
      }
      return `@${operation.operand.text}`;
    case 'Names':
      return operation.operator;
    case 'Unknown':
      return refuse('construct', 'has an unknown operation on a variable');
    default:
      return unreachable(operation);
  }
}

function renderReplacement(word: Word, context: RenderContext, quoting: Quoting): string {
  if (
    !(word.parts ?? []).every(({ type }) =>
      /^(Literal|SimpleExpansion|ParameterExpansion)$/.test(type),
    )
  ) {
    refuse('quoting', 'has quotes in a replacement in a variable');
  }
  return renderOperand(word, context, quoting === 'bare' ? 'bare' : quoting);
}

/** An offset or a length; the blank keeps `${x: -1}` from becoming `${x:-1}`. */
function renderNumber(word: Word, context: RenderContext): string {
  const text = word.text.trim();
  if (/^(?:-?\d+|[A-Za-z_]\w*)$/.test(text)) return ` ${text}`;
  const [only] = word.parts ?? [];
  const isVariable =
    only?.type === 'SimpleExpansion' ||
    (only?.type === 'ParameterExpansion' && /^\$\{#?\w+\}$/.test(only.text));
  if (isVariable && only.text === word.text) return ` ${renderExpansion(only, context, 'bare')}`;
  return refuse('quoting', 'has an offset that is worked out');
}
