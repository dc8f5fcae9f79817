import { canonicalName, readFrontmatter } from './trust-frontmatter.js';
import type { Draft } from './trust-types.js';

/** What a skill or a command would run or be allowed: its granting fields and the shell in its text. */
export function skillDrafts(text: string, label: string): readonly Draft[] {
  const { fields, body, bodyLine, unread } = readFrontmatter(text);
  return [
    ...unreadDrafts(unread, label),
    ...fields.flatMap((field): Draft[] => {
      const name = canonicalName(field.name);
      if (name === 'hooks') return [fieldDraft('hook', field, label)];
      if (!SKILL_GRANTS.has(name)) return [];
      return [fieldDraft('skill grant', field, label)];
    }),
    ...shellIn(body).map(({ command, line }) => ({
      kind: 'skill shell' as const,
      name: label,
      text: command,
      way: ['shell'],
      value: command,
      line: bodyLine + line,
      runs: [command],
    })),
  ];
}

/** What an agent file would run or be allowed beyond what its session is. */
export function agentDrafts(text: string, label: string): readonly Draft[] {
  const { fields, unread } = readFrontmatter(text);
  return [
    ...unreadDrafts(unread, label),
    ...fields.flatMap((field): Draft[] => {
      const name = canonicalName(field.name);
      if (name === 'hooks') return [fieldDraft('hook', field, label)];
      if (name === 'mcpservers') return [fieldDraft('MCP server', field, label)];
      return AGENT_GRANTS.has(name) ? [fieldDraft('agent grant', field, label)] : [];
    }),
  ];
}

const SKILL_GRANTS = new Set([
  'allowedtools',
  'tools',
  'permissionmode',
  'mcpservers',
  'portcullis',
]);
const AGENT_GRANTS = new Set(['tools', 'allowedtools', 'permissionmode', 'memory', 'portcullis']);

interface Field {
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

function fieldDraft(kind: Draft['kind'], field: Field, label: string): Draft {
  const { name, text, line } = field;
  return { kind, name: `${label}, ${name}`, text, way: [name], value: text, line, runs: [text] };
}

/** fail-closed: a head that this reader cannot take apart may hold anything. */
function unreadDrafts(unread: string | undefined, label: string): readonly Draft[] {
  if (unread === undefined) return [];
  const name = `${label}, frontmatter`;
  return [
    {
      kind: 'unreadable',
      name,
      text: unread,
      way: ['---'],
      value: unread,
      line: 1,
      runs: [unread],
    },
  ];
}

/**
 * Commands in `` !`…` `` and in fences that open with an exclamation mark. fail-closed: wherever they
 * stand, closed or not; which of them really run is not decided here.
 */
function shellIn(body: string): readonly { command: string; line: number }[] {
  return [...body.matchAll(FENCED), ...body.matchAll(INLINE)].map((match) => ({
    command: (match[2] ?? '').trim(),
    line: body.slice(0, match.index).split('\n').length - 1,
  }));
}

const FENCED = /^[ \t]*(`{3,}|~{3,})[ \t]*!([\s\S]*?)(?:^[ \t]*\1|(?![\s\S]))/gm;
const INLINE = /!(`+)([\s\S]*?)(?:\1|(?![\s\S]))/g;
