export interface FrontmatterField {
  readonly name: string;
  /** Its value as written, blanks at line ends and empty lines taken out. */
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

const FIELD = /^(?:([A-Za-z0-9][\w .-]*?)|"([\w .-]+)"|'([\w .-]+)')\s*:(?:\s+(.*))?$/;
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
    if (line === '' || line.startsWith('#')) continue;
    const continues = /^[ \t]|^- |^-$/.test(line);
    if (INDIRECT.test(line)) return undefined;
    if (continues) {
      const last = fields.at(-1);
      if (last === undefined) return undefined;
      last.parts.push(line);
      continue;
    }
    const match = FIELD.exec(line);
    if (match === null) return undefined;
    const value = match[4] ?? '';
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    fields.push({ name, parts: value === '' ? [] : [value.trim()], line: firstLine + index });
  }
  return fields.map(({ name, parts, line }) => ({ name, text: parts.join('\n'), line }));
}
