import type {
  AndOr,
  Case,
  CommandNode,
  CompoundList,
  PipelineNode,
  Script,
  Statement,
  TestExpression,
  Word,
} from 'unbash';
import { unreachable } from '../../../lib/result.js';
import { addCommand, addRedirection } from './commands.js';
import { renderArithmetic } from './literals.js';
import { refuse } from './refusal.js';
import { type RenderContext, Writer } from './source.js';
import { renderRegExp, renderWord } from './words.js';

/** Each level takes some frames of the stack. */
const DEEPEST = 100;
const NAME = /^[A-Za-z_]\w*$/;

export function renderScript(script: Script, context: RenderContext): string {
  const writer = new Writer(context.source, script.pos);
  new Compounds(writer, context).list(script.commands);
  return writer.finish(script.end);
}

class Compounds {
  readonly #writer: Writer;
  readonly #context: RenderContext;
  #depth: number;

  constructor(writer: Writer, context: RenderContext) {
    this.#writer = writer;
    this.#context = context;
    this.#depth = context.depth;
  }

  /** Lines stay lines: an error in an expansion ends its line, not what is on the next one. */
  list(statements: readonly Statement[]): void {
    statements.forEach(({ command, background, pos }, at) => {
      const before = statements[at - 1];
      if (before !== undefined) {
        const isLine = this.#context.source.breaksLine(before.command.end, pos);
        const sign = before.background === true ? ' ' : '; ';
        if (isLine) this.#writer.separate({ isLine });
        else this.#writer.add(sign);
      }
      if (++this.#depth > DEEPEST) refuse('size', 'is nested too deeply');
      this.#andOr(command);
      this.#depth--;
      if (background === true) this.#writer.add(' &');
    });
  }

  #andOr(node: AndOr | PipelineNode): void {
    if (node.type !== 'AndOr') this.#pipeline(node);
    else this.#joined(node.commands, node.operators, (one) => this.#pipeline(one));
  }

  #joined<T>(parts: readonly T[], operators: readonly string[], add: (part: T) => void): void {
    parts.forEach((part, at) => {
      if (at > 0)
        this.#writer.add(` ${operators[at - 1] ?? refuse('syntax', 'lacks an operator')} `);
      add(part);
    });
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== 'Pipeline') {
      this.#node(node);
      return;
    }
    if (node.commands.length === 0) refuse('construct', 'has `!` or `time` without a command');
    for (const prefix of node.prefixes) {
      if (prefix.type === 'Negation') this.#writer.add('! ');
      else {
        if (prefix.endOfOptions !== undefined) refuse('construct', 'has an unusual `time`');
        this.#writer.add(prefix.posix === undefined ? 'time ' : 'time -p ');
      }
    }
    this.#joined(node.commands, node.operators, (one) => this.#node(one));
  }

  #node(node: CommandNode): void {
    switch (node.type) {
      case 'Command':
        addCommand(node, this.#writer, this.#context);
        break;
      case 'Redirected':
        this.#node(node.command);
        for (const redirection of node.redirects) {
          this.#writer.add(' ');
          addRedirection(redirection, this.#writer, this.#context);
        }
        break;
      case 'Subshell':
        this.#writer.add('( ');
        this.list(node.body.commands);
        this.#writer.separate({ sign: ' ' });
        this.#writer.add(')');
        break;
      case 'BraceGroup':
        this.#keywords(['{', node.body], '}');
        break;
      case 'If': {
        const branches = node.elif.flatMap(
          (one) => ['elif', one.clause, 'then', one.then] as const,
        );
        const last = node.else === undefined ? [] : (['else', node.else] as const);
        this.#keywords(['if', node.clause, 'then', node.then, ...branches, ...last], 'fi');
        break;
      }
      case 'While':
        this.#keywords([node.kind, node.clause, 'do', node.body], 'done');
        break;
      case 'For':
      case 'Select':
        this.#for(node);
        break;
      case 'Case':
        this.#case(node);
        break;
      case 'Function':
        this.#function(node);
        break;
      case 'ArithmeticCommand': {
        const text = /^\(\(([\s\S]*)\)\)$/.exec(this.#context.source.slice(node))?.[1];
        if (text === undefined) refuse('construct', 'has arithmetic that was not read');
        this.#writer.node(node, `(( ${renderArithmetic(text)} ))`);
        break;
      }
      case 'ArithmeticFor': {
        const first = node.body.commands[0]?.pos ?? node.body.pos;
        const head = this.#context.source.text.slice(node.pos, first);
        const [, text] = /^for\s*\(\(([^\n]*)\)\)\s*;?\s*do\s*$/.exec(head) ?? [];
        const parts = text?.split(';');
        if (parts?.length !== 3) refuse('ambiguous', 'has a loop that was not read whole');
        const rendered = parts.map((part) => ` ${renderArithmetic(part)}`).join(';');
        this.#writer.node({ pos: node.pos, end: first }, `for ((${rendered} )); `);
        this.#keywords(['do', node.body], 'done', '');
        break;
      }
      case 'TestCommand':
        this.#writer.add('[[ ');
        this.#test(node.expression);
        this.#writer.add(' ]]');
        break;
      case 'Coproc':
        refuse('construct', 'starts a coprocess');
        break;
      default:
        unreachable(node);
    }
  }

  /** Lists, each behind a word of the language. */
  #keywords(parts: readonly (string | CompoundList)[], last: string, first?: string): void {
    parts.forEach((part, at) => {
      if (typeof part === 'string') this.#writer.add(`${part} `, at === 0 ? first : undefined);
      else {
        this.list(part.commands);
        this.#writer.separate(part.commands.at(-1)?.background === true ? { sign: ' ' } : {});
      }
    });
    this.#writer.add(last);
  }

  #for({ type, name, wordlist, body }: Extract<CommandNode, { type: 'For' | 'Select' }>): void {
    if (!NAME.test(name.text)) refuse('ambiguous', 'has a loop with an unusual variable');
    this.#writer.add(type === 'For' ? 'for ' : 'select ');
    this.#writer.node(name, name.text);
    if (wordlist !== undefined) this.#writer.add(' in');
    wordlist?.forEach((word, at) => {
      if (word.pos === wordlist[at - 1]?.end) refuse('ambiguous', 'has words that touch');
      this.#writer.add(' ');
      this.#writer.node(word, renderWord(word, this.#context));
    });
    this.#writer.separate();
    this.#keywords(['do', body], 'done');
  }

  #case({ word, items }: Case): void {
    const { source } = this.#context;
    this.#writer.add('case ');
    this.#pattern(word);
    this.#writer.add(' in');
    for (const { pattern, body, terminator = '', pos } of items) {
      this.#writer.add(' (', source.text[pos] === '(' ? '(' : '');
      this.#joined(
        pattern,
        pattern.slice(1).map(() => '|'),
        (one) => this.#pattern(one),
      );
      this.#writer.add(') ');
      this.list(body.commands);
      this.#writer.separate({ sign: '' });
      this.#writer.add(` ${terminator || ';;'}`, terminator);
    }
    this.#writer.add(' esac');
  }

  #function({ pos, name, body }: Extract<CommandNode, { type: 'Function' }>): void {
    const { source } = this.#context;
    if (body.type === 'CompoundList') refuse('syntax', 'has a function without a body');
    if (!/^[A-Za-z_][\w.:-]*$/.test(name.text))
      refuse('ambiguous', 'has a function with an unusual name');
    const isPlain =
      /^(?:function)?$/.test(source.between(pos, name.pos)) &&
      /^(?:\(\s*\))?$/.test(source.between(name.end, body.pos));
    if (!isPlain) refuse('ambiguous', 'has text that is part of no command');
    this.#writer.node({ pos, end: body.pos }, `${name.text} () `);
    this.#node(body);
  }

  #pattern(word: Word): void {
    this.#writer.node(word, renderWord(word, this.#context, 'pattern'));
  }

  #test(expression: TestExpression): void {
    switch (expression.type) {
      case 'TestUnary': {
        const { operator, operand, pos } = expression;
        if (!UNARY.test(operator)) refuse('construct', 'has an unknown test');
        // A word alone is tested for being empty.
        this.#writer.add(`${operator} `, operand.pos === pos ? '' : operator);
        this.#pattern(operand);
        break;
      }
      case 'TestBinary': {
        const { operator, left, right } = expression;
        if (!BINARY.test(operator)) refuse('construct', 'has an unknown test');
        this.#pattern(left);
        this.#writer.add(` ${operator} `);
        if (operator === '=~') this.#writer.node(right, renderRegExp(right, this.#context));
        else this.#pattern(right);
        break;
      }
      case 'TestLogical': {
        const operators = expression.operands.slice(1).map(() => expression.operator);
        this.#joined(expression.operands, operators, (one) => this.#test(one));
        break;
      }
      case 'TestNot':
        this.#writer.add('! '.repeat(expression.negations.length));
        this.#test(expression.operand);
        break;
      case 'TestGroup':
        this.#writer.add('( ');
        this.#test(expression.expression);
        this.#writer.add(' )');
        break;
      default:
        unreachable(expression);
    }
  }
}

const UNARY = /^-[abcdefghknoprstuvwxzGLNORS]$/;
const BINARY = /^(?:==?|!=|=~|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
