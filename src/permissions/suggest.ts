import { dirname, isInside, relative, toPosix } from '../env/paths.js';
import { hostOf } from './domain.js';
import { simpleFileUse } from './shell/file-commands.js';
import { hazardIn } from './shell/hazards.js';
import { nameOf } from './shell/model.js';
import { canonicalText, unwrapForGrant } from './shell/runners.js';
import type { CallView } from './view.js';

const LONGEST_RULE = 200;

/** The rule that would let this call through next time, ready to paste; undefined when none is sensible. */
export async function suggestRule(view: CallView): Promise<string | undefined> {
  const { tool, subject, workspace } = view.call;
  if (tool.needsPerson === true) return undefined;
  if (subject.command !== undefined) return commandRule(view, subject.command.trim());
  if (subject.url !== undefined) {
    const host = hostOf(subject.url);
    return host === undefined ? undefined : `${tool.name}(domain:${host})`;
  }
  const [first] = subject.paths;
  if (first === undefined || (tool.kind !== 'read' && tool.kind !== 'edit')) return tool.name;
  if (tool.kind === 'read') return `Read(/${escaped(dirname(first.path))}/**)`;
  const inside = isInside(first.path, workspace.cwd);
  const path = inside
    ? `./${escaped(relative(workspace.cwd, first.path))}`
    : `/${escaped(first.path)}`;
  return `Edit(${path})`;
}

async function commandRule(view: CallView, command: string): Promise<string | undefined> {
  const exact =
    command.length > LONGEST_RULE || command.includes('\n')
      ? undefined
      : `${view.call.tool.name}(${command.replace(/[*()\\]/g, '\\$&')})`;
  const reading = await view.shell();
  const [only, ...others] = reading?.commands ?? [];
  const isPlain =
    only !== undefined &&
    others.length === 0 &&
    reading?.opaque === undefined &&
    reading?.complex === undefined &&
    only.assignments.length === 0 &&
    only.redirections.every(({ access }) => access === 'none');
  if (!isPlain) return exact;
  const { words, fed } = unwrapForGrant(only.words);
  const literal = words.every((word) => word.literal);
  if (!literal || nameOf(words) === undefined || hazardIn({ words, fed }) !== undefined)
    return exact;
  // A program with subcommands is opened one subcommand at a time.
  const second = words[1];
  const isSubcommand =
    simpleFileUse(words) === undefined &&
    second !== undefined &&
    /^[a-z][a-z0-9:-]*$/i.test(second.value);
  const prefix = canonicalText(words.slice(0, isSubcommand ? 2 : 1)).replace(/[*()\\]/g, '\\$&');
  return `${view.call.tool.name}(${prefix} *)`;
}

function escaped(path: string): string {
  return toPosix(path).replace(/[\\*?[\]]/g, '\\$&');
}
