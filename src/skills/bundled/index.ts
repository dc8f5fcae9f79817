import reviewPermissions from './review-permissions.md';
import writeAHook from './write-a-hook.md';
import hookExamples from './write-a-hook-examples.md';
import writeASkill from './write-a-skill.md';
import skillTemplate from './write-a-skill-template.md';

/** A skill that comes in the box. */
export interface BundledSkill {
  readonly name: string;
  /** Head and body, as a file would hold them. */
  readonly text: string;
  /** Supporting files by their path below the skill's directory. */
  readonly files: Readonly<Record<string, string>>;
}

export const BUNDLED_SKILLS: readonly BundledSkill[] = [
  { name: 'review-permissions', text: reviewPermissions, files: {} },
  { name: 'write-a-hook', text: writeAHook, files: { 'examples.md': hookExamples } },
  { name: 'write-a-skill', text: writeASkill, files: { 'template.md': skillTemplate } },
];
