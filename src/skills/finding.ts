/** What `skills validate` has to say about one place of a file. */
export interface SkillFinding {
  /** An error is against the specification, or keeps the skill from working. */
  readonly severity: 'error' | 'warning';
  readonly line?: number;
  readonly message: string;
}
