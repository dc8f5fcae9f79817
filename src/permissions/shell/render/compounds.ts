import type {
  AndOr,
  Case,
  CommandNode,
  CompoundList,
  If,
  Pipeline,
  PipelineNode,
  Script,
  Statement,
} from 'unbash';
import { unreachable } from '../../../lib/result.js';
import { renderArithmetic } from './arithmetic.js';
import { addCommand } from './commands.js';
import { addRedirection } from './redirections.js';
import { refuse } from './refusal.js';
import type { Span } from './source.js';
import { renderTest } from './tests.js';
import { renderWord } from './words.js';
import { type RenderContext, Writer } from './writer.js';

/** Each level takes some frames of the stack. */
const DEEPEST = 100;

export function renderScript(script: Script, context: RenderContext): string {
  const rendering = new Writer();
  new Compounds(rendering, context).list(script.commands);
  return rendering.finish();
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
    const { source } = this.#context;
    statements.forEach((statement, at) => {
      const before = statements[at - 1];
      if (before !== undefined) {
        const isBackground = before.background === true;
        const end = endOf(before);
        source.expect(end, statement.pos, isBackground ? '&' : /^;?$/);
        if (isBackground) this.#writer.add(' &');
        if (source.breaksLine(end, statement.pos)) this.#writer.newline();
        else this.#writer.add(isBackground ? ' ' : '; ');
      }
      this.#statement(statement);
    });
    if (statements.at(-1)?.background === true) this.#writer.add(' &');
  }

  #statement({ command }: Statement): void {
    if (++this.#depth > DEEPEST) refuse('size', 'is nested too deeply');
    this.#andOr(command);
    this.#depth--;
  }

  #andOr(node: AndOr | PipelineNode): void {
    if (node.type !== 'AndOr') {
      this.#pipeline(node);
      return;
    }
    this.#joined(node.commands, node.operators, (one) => this.#pipeline(one));
  }

  #joined<T extends Span>(
    parts: readonly T[],
    operators: readonly string[],
    add: (part: T) => void,
  ): void {
    parts.forEach((part, at) => {
      const before = parts[at - 1];
      if (before !== undefined) {
        const operator = operators[at - 1] ?? refuse('syntax', 'lacks an operator');
        this.#context.source.expect(before.end, part.pos, operator);
        this.#writer.add(` ${operator} `);
      }
      add(part);
    });
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== 'Pipeline') {
      this.#node(node);
      return;
    }
    const { prefixes, commands, operators, pos } = node as Pipeline;
    let at = pos;
    for (const prefix of prefixes) {
      this.#context.source.expect(at, prefix.pos, '');
      at = prefix.end;
      if (prefix.type === 'Negation') this.#writer.add('! ');
      else {
        if (prefix.endOfOptions !== undefined) refuse('construct', 'has an unusual `time`');
        this.#writer.add(prefix.posix === undefined ? 'time ' : 'time -p ');
      }
    }
    const [first] = commands;
    if (first !== undefined) this.#context.source.expect(at, first.pos, '');
    this.#joined(commands, operators, (one) => this.#node(one));
  }

  #node(node: CommandNode): void {
    const { source } = this.#context;
    switch (node.type) {
      case 'Command':
        addCommand(node, this.#writer, this.#context);
        return;
      case 'Redirected': {
        this.#node(node.command);
        let at = node.command.end;
        for (const redirection of node.redirects) {
          source.expect(at, redirection.pos, '');
          at = redirection.end;
          this.#writer.add(' ');
          addRedirection(redirection, this.#writer, this.#context);
        }
        return;
      }
      case 'Subshell':
        this.#enclosed(node, ['(', ')'], node.body);
        return;
      case 'BraceGroup':
        this.#enclosed(node, ['{', '}'], node.body);
        return;
      case 'If':
        this.#if(node);
        return;
      case 'While':
        this.#clause(node.kind, node.pos, node.clause);
        this.#body(node.clause, node.body, node.end);
        return;
      case 'For':
      case 'Select':
        this.#for(node);
        return;
      case 'Case':
        this.#case(node);
        return;
      case 'Function':
        this.#function(node);
        return;
      case 'ArithmeticCommand': {
        const raw = source.slice(node);
        if (node.expression === undefined || !/^\(\([\s\S]*\)\)$/.test(raw))
          refuse('construct', 'has arithmetic that was not read');
        this.#writer.add(
          `(( ${renderArithmetic(node.expression, raw.slice(2, -2), this.#context)} ))`,
        );
        return;
      }
      case 'TestCommand':
        this.#writer.add(renderTest(node, this.#context));
        return;
      case 'ArithmeticFor':
        this.#counting(node);
        return;
      case 'Coproc':
        refuse('construct', 'starts a coprocess');
        break;
      default:
        unreachable(node);
    }
  }

  #enclosed(
    { pos, end }: Span,
    [open, close]: readonly [string, string],
    body: CompoundList,
  ): void {
    const { source } = this.#context;
    const { first, last } = edgesOf(body);
    source.expect(pos, first, open);
    source.expect(last, end, tail(body, close));
    this.#writer.add(`${open} `);
    this.list(body.commands);
    if (close === '}') this.#endList(body);
    else if (this.#writer.hasWaiting) this.#writer.newline();
    else this.#writer.add(' ');
    this.#writer.add(close);
  }

  /** Ends a list that a word of the language follows. */
  #endList(body: CompoundList): void {
    const isBackground = body.commands.at(-1)?.background === true;
    if (isBackground && !this.#writer.hasWaiting) this.#writer.add(' ');
    else this.#writer.endList();
  }

  #clause(keyword: string, from: number, list: CompoundList): void {
    this.#context.source.expect(from, edgesOf(list).first, keyword);
    this.#writer.add(`${keyword} `);
    this.list(list.commands);
    this.#endList(list);
  }

  #body(before: CompoundList, body: CompoundList, end: number): void {
    const { source } = this.#context;
    source.expect(edgesOf(before).last, edgesOf(body).first, tail(before, 'do'));
    this.#done(body, end);
  }

  #done(body: CompoundList, end: number): void {
    this.#context.source.expect(edgesOf(body).last, end, tail(body, 'done'));
    this.#writer.add('do ');
    this.list(body.commands);
    this.#endList(body);
    this.#writer.add('done');
  }

  #if({ pos, end, clause, then, elif, else: otherwise }: If): void {
    const { source } = this.#context;
    this.#clause('if', pos, clause);
    let before = clause;
    const next = (keyword: string, list: CompoundList): void => {
      source.expect(edgesOf(before).last, edgesOf(list).first, tail(before, keyword));
      this.#writer.add(`${keyword} `);
      this.list(list.commands);
      this.#endList(list);
      before = list;
    };
    next('then', then);
    for (const branch of elif) {
      next('elif', branch.clause);
      next('then', branch.then);
    }
    if (otherwise !== undefined) next('else', otherwise);
    source.expect(edgesOf(before).last, end, tail(before, 'fi'));
    this.#writer.add('fi');
  }

  #for(node: Extract<CommandNode, { type: 'For' | 'Select' }>): void {
    const { source } = this.#context;
    const { type, name, wordlist, body, pos, end } = node;
    const keyword = type === 'For' ? 'for' : 'select';
    source.expect(pos, name.pos, keyword);
    if (!/^[A-Za-z_]\w*$/.test(name.text))
      refuse('ambiguous', 'has a loop with an unusual variable');
    this.#writer.add(`${keyword} ${name.text}`);
    let at = name.end;
    wordlist?.forEach((word, index) => {
      source.expect(at, word.pos, index === 0 ? 'in' : '');
      if (index > 0 && word.pos === at) refuse('ambiguous', 'has words that touch');
      at = word.end;
    });
    const { first } = edgesOf(body);
    if (wordlist === undefined) source.expect(at, first, /^;?\s*do$/);
    else {
      source.expect(at, first, wordlist.length === 0 ? /^in\s*;?\s*do$/ : /^;?\s*do$/);
      const words = wordlist.map((word) => ` ${renderWord(word, this.#context)}`);
      this.#writer.add(` in${words.join('')}`);
    }
    this.#writer.endList();
    this.#done(body, end);
  }

  #counting(node: Extract<CommandNode, { type: 'ArithmeticFor' }>): void {
    const { source } = this.#context;
    const { initialize, test, update, body, pos, end } = node;
    const { first } = edgesOf(body);
    const head = source.text.slice(pos, first);
    const { parts } = /^for\s*\(\((?<parts>[^\n]*)\)\)\s*;?\s*do\s*$/.exec(head)?.groups ?? {};
    const raws = parts?.split(';');
    if (raws?.length !== 3) refuse('ambiguous', 'has a loop that was not read whole');
    const rendered = [initialize, test, update].map((expression, at) => {
      const raw = raws[at] ?? '';
      if (expression !== undefined) return ` ${renderArithmetic(expression, raw, this.#context)}`;
      return raw.trim() === '' ? '' : refuse('ambiguous', 'has a loop that was not read whole');
    });
    this.#writer.add(`for ((${rendered.join(';')} )); `);
    this.#done(body, end);
  }

  #case({ pos, end, word, items }: Case): void {
    const { source } = this.#context;
    source.expect(pos, word.pos, 'case');
    this.#writer.add(`case ${renderWord(word, this.#context, 'pattern')} in`);
    let at = word.end;
    let opening = 'in';
    for (const item of items) {
      const { pattern, body, terminator } = item;
      const [firstPattern] = pattern;
      if (firstPattern === undefined) refuse('syntax', 'has a case without a pattern');
      const between = source.between(at, firstPattern.pos).replace(/\($/, '').trim();
      if (between !== opening) refuse('ambiguous', 'has text that is part of no command');
      pattern.forEach((one, index) => {
        const previous = pattern[index - 1];
        if (previous !== undefined) source.expect(previous.end, one.pos, '|');
      });
      const last = pattern.at(-1) ?? firstPattern;
      const edges = body.commands.length === 0 ? undefined : edgesOf(body);
      if (edges === undefined) {
        source.expect(last.end, item.end, new RegExp(`^\\)\\s*${escaped(terminator ?? '')}$`));
      } else {
        source.expect(last.end, edges.first, ')');
        source.expect(edges.last, item.end, tail(body, terminator ?? ''));
      }
      const patterns = pattern.map((one) => renderWord(one, this.#context, 'pattern'));
      this.#writer.add(` (${patterns.join(' | ')}) `);
      this.list(body.commands);
      if (this.#writer.hasWaiting) this.#writer.newline();
      this.#writer.add(` ${terminator ?? ';;'}`);
      at = item.end;
      opening = '';
    }
    source.expect(at, end, items.length === 0 ? /^in\s*esac$/ : 'esac');
    this.#writer.add(' esac');
  }

  #function({ pos, name, body }: Extract<CommandNode, { type: 'Function' }>): void {
    const { source } = this.#context;
    if (body.type === 'CompoundList') refuse('syntax', 'has a function without a body');
    if (!/^[A-Za-z_][\w.:-]*$/.test(name.text))
      refuse('ambiguous', 'has a function with an unusual name');
    source.expect(pos, name.pos, /^(?:function)?$/);
    source.expect(name.end, body.pos, /^(?:\(\s*\))?$/);
    this.#writer.add(`${name.text} () `);
    this.#node(body);
  }
}

function endOf(statement: Statement): number {
  // A statement may end behind its `&`.
  return statement.command.end;
}

function edgesOf({ commands, pos, end }: CompoundList): {
  readonly first: number;
  readonly last: number;
} {
  const [first] = commands;
  const last = commands.at(-1);
  if (first === undefined || last === undefined) return { first: pos, last: end };
  return { first: first.pos, last: endOf(last) };
}

/** What follows the last command of a list, up to and with a word of the language. */
function tail({ commands }: CompoundList, word: string): RegExp {
  const separator = commands.at(-1)?.background === true ? '&' : ';?';
  return new RegExp(`^${separator}\\s*${escaped(word)}$`);
}

function escaped(punctuation: string): string {
  return punctuation.replace(/[(){}|&;]/g, '\\$&');
}
