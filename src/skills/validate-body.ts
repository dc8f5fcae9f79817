import type { SkillFinding } from './finding.js';

/** `$1` where nobody uses `$0` was mostly written for a shell, where the first argument is 1. */
export function argumentFindings(body: string, bodyLine: number): readonly SkillFinding[] {
  const lines = body.split('\n');
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
  const second = at(/(?<![\\$\w])\$(?:1(?!\d)|ARGUMENTS\[1\])/);
  if (second === -1 || at(/(?<![\\$\w])\$(?:0(?!\d)|ARGUMENTS\[0\])/) !== -1) return [];
  const message = 'it uses $1 and not $0; arguments are counted from 0, so $0 is the first';
  return [{ severity: 'warning', line: bodyLine + second, message }];
}

/** Files that the text names and that are not there, or not the skill's own. */
export async function referenceFindings(
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
  /** From 0, in the body. */
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
    // What stands in a fence is mostly an example.
    if (fence !== undefined) continue;
    take(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g);
    take(/`((?:\.\/)?(?:scripts|references|assets|templates|examples)\/[\w./@+-]+)`/g);
  }
  return found;
}

/** Without anchor; empty for what is no file. */
function cleaned(path: string): string {
  if (/^(?:[a-z][\w+.-]*:|#|\/\/|mailto:)/i.test(path) && !/^[A-Za-z]:[\\/]/.test(path)) return '';
  return path
    .replace(/[#?].*$/, '')
    .replace(/^\.\//, '')
    .replace(/[.,:;]+$/, '');
}
