import { type EmbeddedCommand, embeddedCommands } from '../../lib/embedded-commands.js';
import { splitFile } from '../../lib/head-text.js';
import { sha256 } from '../../platform/hash.js';
import { canonicalName, readFrontmatter } from './frontmatter.js';
import type { Draft } from './types.js';

/** What a skill or a command would run or be allowed: its granting fields and the shell in its text. */
export function skillDrafts(text: string, label: string): readonly Draft[] {
  const { fields, unread } = readFrontmatter(text);
  // fail-closed: the text of a skill begins where the one who runs its commands says.
  const { body, bodyLine } = splitFile(text);
  return [
    ...unreadDrafts(unread, label),
    ...fields.flatMap((field): Draft[] => {
      const name = canonicalName(field.name);
      if (name === 'hooks') return [fieldDraft('hook', field, label)];
      if (!SKILL_GRANTS.has(name)) return [];
      return [fieldDraft('skill grant', field, label)];
    }),
    ...shellDrafts(body, bodyLine, label),
  ];
}

/** More than anybody reads before saying yes, and than a skill needs. */
const MOST_COMMANDS = 200;

function shellDrafts(body: string, bodyLine: number, label: string): readonly Draft[] {
  const commands = embeddedCommands(body);
  if (commands.length > MOST_COMMANDS) {
    const text = `${commands.length} commands, more than are looked at`;
    const name = `${label}, commands`;
    const value = sha256(body);
    // fail-closed: nobody has looked at them one by one, so trust in them is not kept.
    const rest = { line: bodyLine, runs: [], pinned: false };
    return [{ kind: 'unreadable', name, text, way: ['shell'], value, ...rest }];
  }
  return shellIn(body, commands).map(({ command, line }) => ({
    kind: 'skill shell' as const,
    name: label,
    text: command,
    way: ['shell'],
    value: command,
    line: bodyLine + line,
    runs: [command],
  }));
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

/** Not `portcullis`: all that a skill can say there holds back, and needs no trust. */
const SKILL_GRANTS = new Set([
  'allowedtools',
  'model',
  'effort',
  'tools',
  'permissionmode',
  'mcpservers',
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

/** fail-closed: wherever they stand, closed or not, also those that would not run. */
function shellIn(
  body: string,
  commands: readonly EmbeddedCommand[],
): readonly { command: string; line: number }[] {
  let at = 0;
  let line = 0;
  return commands.map(({ start, from, to }) => {
    for (; at < start; at++) if (body.charCodeAt(at) === NEWLINE) line++;
    return { command: body.slice(from, to).trim(), line };
  });
}

const NEWLINE = 10;
