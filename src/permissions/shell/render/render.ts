import type { Script, SyntaxNode } from 'unbash';
import { messageOf } from '../../../errors.js';
import { type Budget, TooComplexError } from '../../gate/budget.js';
import { differenceFromBash } from '../syntax/bash-differences.js';
import { renderScript } from './compounds.js';
import { RenderError, type Rendering, refuse } from './refusal.js';
import { type RenderContext, Source } from './source.js';

export type { Rendering, RenderRefusal } from './refusal.js';

interface RenderParser {
  parse(code: string): Script & { readonly errors?: readonly unknown[] | undefined };
  forEachChild(node: SyntaxNode, visit: (child: SyntaxNode) => void): void;
}

/**
 * Shell code in its canonical form, written from the tree that was judged. Bash reads this form only as the tree
 * says: literal text is quoted, every other character is one that the renderer knows. Throws only when the steps run out.
 */
export function renderShell(
  code: string,
  script: ReturnType<RenderParser['parse']>,
  parser: RenderParser,
  budget: Budget,
): Rendering {
  try {
    budget.spend(code.length);
    const text = rendered(code, script, parser);
    budget.spend(text.length);
    // fail-closed: a form that is not canonical was not understood.
    if (rendered(text, parser.parse(text), parser) !== text) {
      refuse('unstable', 'has no stable form');
    }
    return { ok: true, text };
  } catch (thrown) {
    if (thrown instanceof TooComplexError) throw thrown;
    if (thrown instanceof RenderError) return { ok: false, refusal: thrown.refusal };
    // fail-closed: also what the renderer cannot cope with.
    return {
      ok: false,
      refusal: { code: 'size', reason: `could not be written out (${messageOf(thrown)})` },
    };
  }
}

function rendered(
  code: string,
  script: ReturnType<RenderParser['parse']>,
  parser: RenderParser,
): string {
  if (code.includes('\0')) refuse('syntax', 'has a NUL character');
  const difference = differenceFromBash(script, code, parser.forEachChild);
  if (difference !== undefined) refuse('ambiguous', difference.replace(/^it /, ''));
  const inner = (nested: Script, context: RenderContext): string => {
    checkErrors(nested);
    const depth = context.depth + 1;
    if (nested.source === undefined) return renderScript(nested, { ...context, depth });
    const source = new Source(nested.source, nested, parser.forEachChild);
    return renderScript(nested, { ...context, source, depth });
  };
  checkErrors(script);
  return renderScript(script, {
    source: new Source(code, script, parser.forEachChild),
    depth: 0,
    code: inner,
  });
}

function checkErrors(script: Script): void {
  if ('errors' in script && (script.errors as readonly unknown[] | undefined)?.length) {
    refuse('syntax', 'is not valid shell syntax');
  }
}
