import { listOf, textOf } from '../../lib/frontmatter/fields.js';
import { type Frontmatter, loadFrontmatter } from '../../lib/frontmatter/frontmatter.js';
import { isRecord, own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { readSkill } from './head.js';

export interface SkillUnderTest {
  readonly text: string;
  readonly directoryName: string;
  /** Whether a file exists, by its path from the skill's directory. */
  exists(path: string): Promise<boolean>;
  /** The tools that `allowed-tools` may name; not checked when absent. */
  readonly knownTools?: readonly string[];
}

const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1_024;
const LONGEST_COMPATIBILITY = 500;
const MOST_LINES = 500;

/** Checks a skill against the public Agent Skills specification, and for common mistakes. */
export async function validateSkill(skill: SkillUnderTest): Promise<readonly SkillFinding[]> {
  const { text } = skill;
  const read = await loadFrontmatter(text);
  const findings: SkillFinding[] = [
    ...(await headFindings(skill)),
    ...(read.how === 'none' ? noHead(read) : fieldFindings(skill, read.fields, read.lines)),
    ...argumentFindings(read.body, read.bodyLine),
    ...(await referenceFindings(read.body, read.bodyLine, skill)),
  ];
  const count = text.replace(/\r?\n$/, '').split('\n').length;
  if (count > MOST_LINES) {
    const message = `it has ${count} lines; move what is not always needed to files beside it (at most ${MOST_LINES})`;
    findings.push({ severity: 'warning', line: MOST_LINES + 1, message });
  }
  return findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** Problems of existing front matter are reported by its parser. */
function noHead({ problem }: Pick<Frontmatter, 'problem'>): readonly SkillFinding[] {
  if (problem !== undefined) return [];
  const message = 'it has no head; begin with ---, name, description and ---';
  return [{ severity: 'error', line: 1, message }];
}

/** Problems found by the front matter parser. */
async function headFindings(skill: SkillUnderTest): Promise<readonly SkillFinding[]> {
  const { refusal, problems, head } = await readSkill(skill.text);
  const findings: SkillFinding[] = problems.map(({ line, message }) => ({
    severity: /cannot be read as YAML/.test(message) ? 'error' : 'warning',
    line,
    message,
  }));
  if (refusal !== undefined) {
    const { line, message } = refusal;
    findings.push({ severity: 'error', line, message });
  }
  return [...findings, ...ruleFindings(head.allowedTools ?? [], skill)];
}

function ruleFindings(
  rules: readonly string[],
  { knownTools }: SkillUnderTest,
): readonly SkillFinding[] {
  if (knownTools === undefined) return [];
  return rules.flatMap((rule): SkillFinding[] => {
    const tool = rule.replace(/\(.*$/s, '');
    if (knownTools.includes(tool) || tool.startsWith('mcp__')) return [];
    const meant = nearest(tool, knownTools);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    const message = `allowed-tools names ${tool}, which is no tool here${hint}`;
    return [{ severity: 'warning', message }];
  });
}

type Fields = Readonly<Record<string, unknown>>;

function fieldFindings(
  { directoryName }: SkillUnderTest,
  fields: Fields,
  lines: ReadonlyMap<string, number>,
): SkillFinding[] {
  const error = (field: string, message: string): SkillFinding => {
    return { severity: 'error', line: lines.get(field) ?? 1, message };
  };
  const found: SkillFinding[] = [];
  const name = own(fields, 'name');
  const wrong = nameFinding(name, directoryName);
  if (wrong !== undefined) found.push(error('name', wrong));
  const description = textOf(own(fields, 'description'))?.trim() ?? '';
  if (description === '') {
    found.push(
      error('description', 'there is no description, so the model cannot know when to use it'),
    );
  } else if (lengthOf(description) > LONGEST_DESCRIPTION) {
    const message = `the description has ${lengthOf(description)} characters, at most ${LONGEST_DESCRIPTION} are allowed`;
    found.push(error('description', message));
  }
  const compatibility = own(fields, 'compatibility');
  const length = lengthOf(textOf(compatibility)?.trim() ?? '');
  if (compatibility !== undefined && (length === 0 || length > LONGEST_COMPATIBILITY)) {
    const message = `compatibility is a text of 1 to ${LONGEST_COMPATIBILITY} characters`;
    found.push(error('compatibility', message));
  }
  if (!listOf(own(fields, 'allowed-tools')).ok) {
    found.push(error('allowed-tools', 'allowed-tools is a text or a list of texts'));
  }
  if (!isMetadata(own(fields, 'metadata'))) {
    found.push(error('metadata', 'metadata is a map from names to texts'));
  }
  return found;
}

function nameFinding(value: unknown, directoryName: string): string | undefined {
  const name = textOf(value)?.trim() ?? '';
  if (name === '') return `there is no name; write "name: ${directoryName}"`;
  if (lengthOf(name) > LONGEST_NAME) return `the name is longer than ${LONGEST_NAME} characters`;
  if (!PLAIN_NAME.test(name)) {
    return `the name "${name}" may hold small letters, digits and single hyphens between them`;
  }
  if (name.normalize('NFKC') === directoryName.normalize('NFKC')) return undefined;
  return `the name "${name}" is not that of the directory, "${directoryName}"`;
}

/** Lower-case letters, and letters of scripts without case. */
const PLAIN_NAME = /^[\p{Ll}\p{Lo}\p{M}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{M}\p{N}]+)*$/u;

/** Counts characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

function isMetadata(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return isRecord(value) && Object.values(value).every((one) => textOf(one) !== undefined);
}

/** `$1` without `$0` was probably meant as in a shell, where the first argument is 1. */
function argumentFindings(body: string, bodyLine: number): readonly SkillFinding[] {
  const lines = body.split('\n');
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
  const second = at(/(?<![\\$\w])\$(?:1(?!\d)|ARGUMENTS\[1\])/);
  if (second === -1 || at(/(?<![\\$\w])\$(?:0(?!\d)|ARGUMENTS\[0\])/) !== -1) return [];
  const message = 'it uses $1 and not $0; arguments are counted from 0, so $0 is the first';
  return [{ severity: 'warning', line: bodyLine + second, message }];
}

/** Files that the text refers to and that are missing or outside the skill. */
async function referenceFindings(
  body: string,
  bodyLine: number,
  skill: { exists(path: string): Promise<boolean> },
): Promise<readonly SkillFinding[]> {
  const findings: SkillFinding[] = [];
  const seen = new Set<string>();
  for (const { path, line } of references(body)) {
    if (seen.has(path)) continue;
    seen.add(path);
    const place = { severity: 'warning', line: bodyLine + line } as const;
    if (/^[/~]|^[A-Za-z]:/.test(path)) {
      findings.push({ ...place, message: `${path} is a path of one machine` });
    } else if (path.split(/[/\\]/).includes('..')) {
      findings.push({ ...place, message: `${path} leads out of the skill's directory` });
    } else if (!(await skill.exists(path))) {
      findings.push({ ...place, message: `${path} is named here and does not exist` });
    }
  }
  return findings;
}

interface Reference {
  readonly path: string;
  /** Line in the body, from 0. */
  readonly line: number;
}

/** `[text](path)`, `${CLAUDE_SKILL_DIR}/path`, and paths in backquotes below the usual directories. */
function references(body: string): readonly Reference[] {
  const found: Reference[] = [];
  let fence: string | undefined;
  for (const [line, text] of body.split('\n').entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
    }
    const take = (pattern: RegExp): void => {
      for (const match of text.matchAll(pattern)) {
        const path = cleaned(match[1] ?? '');
        if (path !== '') found.push({ path, line });
      }
    };
    take(/\$\{CLAUDE_SKILL_DIR\}\/([\w./@+-]+)/g);
    // Code blocks mostly contain examples.
    if (fence !== undefined) continue;
    take(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g);
    take(/`((?:\.\/)?(?:scripts|references|assets|templates|examples)\/[\w./@+-]+)`/g);
  }
  return found;
}

/** The path without its anchor; empty for links that are no files. */
function cleaned(path: string): string {
  if (/^(?:[a-z][\w+.-]*:|#|\/\/|mailto:)/i.test(path) && !/^[A-Za-z]:[\\/]/.test(path)) return '';
  return path
    .replace(/[#?].*$/, '')
    .replace(/^\.\//, '')
    .replace(/[.,:;]+$/, '');
}

export interface SkillFinding {
  /** An error violates the specification, or keeps the skill from working. */
  readonly severity: 'error' | 'warning';
  readonly line?: number;
  readonly message: string;
}
