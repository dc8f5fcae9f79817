import { headGroups, splitFile } from '../../lib/head-text.js';

export interface FrontmatterField {
  readonly name: string;
  /**
   * Its value, line for line as written: in YAML an empty line, a blank at the end of one and what
   * looks like a comment may all be part of a text, and change what it runs.
   */
  readonly text: string;
  readonly line: number;
}

export interface Frontmatter {
  readonly fields: readonly FrontmatterField[];
  readonly body: string;
  /** Line on which the body begins. */
  readonly bodyLine: number;
  /** The whole head, when it is not a plain list of fields. */
  readonly unread: string | undefined;
}

/**
 * The top-level fields of a markdown file's head, as text. Not a reader of YAML: it only has to see
 * every field that is there. A head written in any other way comes back as `unread`.
 */
export function readFrontmatter(text: string): Frontmatter {
  const split = splitFile(text);
  const { lines, body, bodyLine } = split;
  if (lines === undefined) {
    // Without an end the whole file may be taken for the head or for the body.
    const unread = split.problem === undefined ? undefined : body.trim();
    return { fields: [], body, bodyLine, unread };
  }
  const { groups, strays } = headGroups(split);
  const isUnread = strays.length > 0 || lines.some((line) => INDIRECT.test(line));
  if (isUnread) return { fields: [], body, bodyLine, unread: lines.join('\n').trim() };
  const fields = groups.map(({ key, rest, lines: below, line }) => ({
    name: key,
    text: withoutEdges([rest, ...below]),
    line,
  }));
  return { fields, body, bodyLine, unread: undefined };
}

/** `allowed-tools`, `allowedTools` and `Allowed_Tools` are one name. */
export function canonicalName(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

/** A value that stands for something written elsewhere in the head, or changes how it is read. */
const INDIRECT = /^[ \t]*(?:- +)*(?:[\w-]+: +|<<: +)?(?:[&*][\w-]|!+[\w<]|\? )/;

/** Empty lines before the first and behind the last word of a value; none of them runs anything. */
function withoutEdges(lines: readonly string[]): string {
  const isFilled = (line: string): boolean => line.trim() !== '';
  const from = lines.findIndex(isFilled);
  return from === -1 ? '' : lines.slice(from, lines.findLastIndex(isFilled) + 1).join('\n');
}
