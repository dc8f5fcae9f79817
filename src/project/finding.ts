/** What is wrong with a document of a skill, an agent or a plugin. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** The file. */
  readonly place: string;
  readonly line?: number | undefined;
  readonly message: string;
}
