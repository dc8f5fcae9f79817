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
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  const start = lines.findIndex((line) => line.trim() !== '');
  if (start === -1 || !/^---\s*$/.test(lines[start] ?? '')) {
    return { fields: [], body: lines.join('\n'), bodyLine: 1, unread: undefined };
  }
  const length = lines.slice(start + 1).findIndex((line) => /^(---|\.\.\.)[ \t]*$/.test(line));
  const head = length === -1 ? lines.slice(start + 1) : lines.slice(start + 1, start + 1 + length);
  const bodyStart = start + head.length + 2;
  const fields = fieldsOf(head, start + 2);
  const unread = length === -1 || fields === undefined ? head.join('\n').trim() : undefined;
  // Without an end the whole file may be taken for the head or for the body.
  const body = (length === -1 ? lines : lines.slice(bodyStart)).join('\n');
  return { fields: fields ?? [], body, bodyLine: length === -1 ? 1 : bodyStart + 1, unread };
}

/** `allowed-tools`, `allowedTools` and `Allowed_Tools` are one name. */
export function canonicalName(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

const NAME = /^(?:([A-Za-z0-9][\w .-]*)|"([\w .-]+)"|'([\w .-]+)')$/;
/** A value that stands for something written elsewhere in the head, or changes how it is read. */
const INDIRECT = /^[ \t]*(?:- +)*(?:[\w-]+: +|<<: +)?(?:[&*][\w-]|!+[\w<]|\? )/;

/** Undefined when some line at the left edge is no field. */
function fieldsOf(
  head: readonly string[],
  firstLine: number,
): readonly FrontmatterField[] | undefined {
  const fields: { name: string; parts: string[]; line: number }[] = [];
  for (const [index, raw] of head.entries()) {
    const line = raw.trimEnd();
    const last = fields.at(-1);
    if (line === '' || line.startsWith('#')) {
      last?.parts.push(raw);
      continue;
    }
    if (INDIRECT.test(line)) return undefined;
    if (/^[ \t]|^- |^-$/.test(line)) {
      if (last === undefined) return undefined;
      last.parts.push(raw);
      continue;
    }
    const field = fieldIn(raw);
    if (field === undefined) return undefined;
    fields.push({ name: field.name, parts: [field.value], line: firstLine + index });
  }
  return fields.map(({ name, parts, line }) => ({ name, text: withoutEdges(parts), line }));
}

/** `name: value`, split at the first colon; whatever is in the line, it is looked at once. */
function fieldIn(line: string): { readonly name: string; readonly value: string } | undefined {
  const colon = line.indexOf(':');
  if (colon === -1) return undefined;
  const match = NAME.exec(line.slice(0, colon).trimEnd());
  const value = line.slice(colon + 1);
  if (match === null || (value !== '' && !/^\s/.test(value))) return undefined;
  return { name: match[1] ?? match[2] ?? match[3] ?? '', value: value.trimStart() };
}

/** Empty lines before the first and behind the last word of a value; none of them runs anything. */
function withoutEdges(lines: readonly string[]): string {
  const isFilled = (line: string): boolean => line.trim() !== '';
  const from = lines.findIndex(isFilled);
  return from === -1 ? '' : lines.slice(from, lines.findLastIndex(isFilled) + 1).join('\n');
}
