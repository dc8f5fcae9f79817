/** A file as people write it, and how it must be read. */
export interface CorpusRow {
  /** What the file shows, as the name of its test. Unique in its table. */
  readonly title: string;
  readonly text: string;
  /** The parts of the reading that the row is about (see `readings.ts`). */
  readonly reads: Readonly<Record<string, unknown>>;
}

/** The files of one kind, by the name of their reader in `readings.ts`. */
export interface CorpusTable {
  readonly kind: string;
  readonly rows: readonly CorpusRow[];
}

/** A Markdown file with a head of these lines. */
export function withHead(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\nDo it.\n`;
}
