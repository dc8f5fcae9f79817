import type { SessionSnapshot } from '../../client/session-client.js';
import { cutLine, type Line, line, type Span, STYLE, span } from '../screen/line.js';
import { formatCost, formatCount } from './format.js';

export interface StatusFacts {
  readonly snapshot: SessionSnapshot | undefined;
  readonly branch: string | undefined;
  readonly vimMode: string | undefined;
  readonly questions: number;
  /** What the user's own status line command printed. */
  readonly custom: string | undefined;
  /** A hint that replaces the rest for a moment. */
  readonly hint: string | undefined;
}

const MODE_STYLES: Readonly<Record<string, string>> = {
  plan: STYLE.accent,
  acceptEdits: STYLE.warning,
  dontAsk: STYLE.warning,
  bypassPermissions: STYLE.error,
};

/** Model, mode, branch, context and cost, or the output of the user's own command. */
export function statusRows(facts: StatusFacts, columns: number): Line[] {
  if (facts.hint !== undefined) return [cutLine(line(span(facts.hint, STYLE.warning)), columns)];
  const own =
    facts.custom === undefined
      ? [builtin(facts)]
      : facts.custom.split('\n').slice(0, 3).map(parseSgr);
  return own.map((row) => cutLine(row, columns));
}

function builtin({ snapshot, branch, vimMode, questions }: StatusFacts): Line {
  const info = snapshot?.info;
  const parts: Span[] = [];
  const add = (text: string | undefined, style: string = STYLE.dim): void => {
    if (text === undefined || text === '') return;
    if (parts.length > 0) parts.push(span(' · ', STYLE.dim));
    parts.push(span(text, style));
  };
  add(info?.model);
  add(info?.mode, MODE_STYLES[info?.mode ?? ''] ?? STYLE.dim);
  add(branch);
  const { contextTokens, contextWindow, costUsd = 0, unknownModels = [] } = snapshot?.usage ?? {};
  if (contextTokens !== undefined) {
    const share =
      contextWindow === undefined ? '' : ` (${Math.round((100 * contextTokens) / contextWindow)}%)`;
    add(`${formatCount(contextTokens)}${share} context`);
  }
  if (costUsd > 0 || unknownModels.length > 0)
    add(`${formatCost(costUsd)}${unknownModels.length > 0 ? ' + unknown' : ''}`);
  if (vimMode === 'normal') add('NORMAL', STYLE.bold);
  if (questions > 1) add(`${questions} questions`, STYLE.warning);
  return parts;
}

/** Text with colours of a program: SGR sequences become styles, everything else that controls is dropped. */
function parseSgr(text: string): Line {
  const spans: Span[] = [];
  let style: string | undefined;
  // The terminator of a hyperlink and the sequences that are not colours go first.
  const plain = text
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(/\u001b\[[0-9;:?]*[A-Za-ln-z]/g, '');
  for (const part of plain.split(/(\u001b\[[0-9;:]*m)/)) {
    const codes = /^\u001b\[([0-9;:]*)m$/.exec(part)?.[1];
    if (codes === undefined) {
      if (part !== '') spans.push(span(part, style));
    } else if (codes === '' || codes === '0' || codes.startsWith('0;')) {
      style = codes.startsWith('0;') ? codes.slice(2) : undefined;
    } else {
      style = style === undefined ? codes : `${style};${codes}`;
    }
  }
  return spans;
}
