import type { SyntaxNode, Word } from 'unbash';
import { isEvaluated } from './evaluated-words.js';

const COUNTING = /^-(eq|ne|lt|le|gt|ge)$/;
/** Numbers, and what can be nothing else. */
const PLAIN_NUMBER = /^"?(-?\d+|\$[#?$!]|\$\{#\w*\})"?$/;
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** What a piece of syntax evaluates besides the commands in it, in words for "it uses …". */
export function evaluatedBy(node: SyntaxNode): string | undefined {
  switch (node.type) {
    // fail-closed: both sides are arithmetic, in which `a[$(…)]` runs, also when a variable holds it.
    case 'TestBinary':
      return COUNTING.test(node.operator) && !(isNumber(node.left) && isNumber(node.right))
        ? `arithmetic ([[ … ${node.operator} … ]])`
        : undefined;
    // fail-closed: the subscript of a name is arithmetic too.
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) && !PLAIN_NAME.test(node.operand.text)
        ? `a name that is worked out ([[ ${node.operator} … ]])`
        : undefined;
    case 'FileDescriptorVariable':
      return PLAIN_NAME.test(node.name) ? undefined : 'an array';
    case 'For':
      return isEvaluated(node.name.value) ? `the variable ${node.name.value}` : undefined;
    case 'ParameterExpansion':
      return node.operation?.type === 'Default' &&
        /=$/.test(node.operation.operator) &&
        isEvaluated(node.parameter)
        ? `the variable ${node.parameter}`
        : undefined;
    default:
      return undefined;
  }
}

function isNumber(word: Word): boolean {
  return PLAIN_NUMBER.test(word.text);
}
