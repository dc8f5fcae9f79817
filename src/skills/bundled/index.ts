import reviewPermissions from './review-permissions.md';
import writeAHook from './write-a-hook.md';
import hookExamples from './write-a-hook-examples.md';
import writeASkill from './write-a-skill.md';
import skillTemplate from './write-a-skill-template.md';

/** A skill that comes with the program. */
export interface BundledSkill {
  readonly name: string;
  /** Front matter and body, as in a file. */
  readonly text: string;
  /** Supporting files by their path below the skill's directory. */
  readonly files: Readonly<Record<string, string>>;
}

export const BUNDLED_SKILLS: readonly BundledSkill[] = [
  { name: 'review-permissions', text: reviewPermissions, files: {} },
  { name: 'write-a-hook', text: writeAHook, files: { 'examples.md': hookExamples } },
  { name: 'write-a-skill', text: writeASkill, files: { 'template.md': skillTemplate } },
];
