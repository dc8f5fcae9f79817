import { dirname, isInside, relative, toPosix } from '../../platform/fs/paths.js';
import type { PermissionUpdate } from '../../protocol/permissions.js';
import type { AskRequest, Suggestions } from '../gate/types.js';
import type { CallView } from '../gate/view.js';
import { hostOf } from '../rules/domain.js';
import type { SubcommandFacts } from '../shell/effects/facts.js';
import { simpleFileUse } from '../shell/effects/uses.js';
import { programOf, type ShellWord } from '../shell/model.js';
import { factsOf } from '../shell/programs/index.js';
import { hazardsIn } from '../shell/runners/hazards.js';
import { canonicalText, unwrapForGrant } from '../shell/runners/runners.js';

const LONGEST_RULE = 200;

/** The rule that would let this call through next time, ready to paste, and those of wider answers. */
export async function suggestFor(
  view: CallView,
): Promise<{ readonly suggestion?: string; readonly suggestions?: Suggestions }> {
  // A tool that is itself a question is asked about every time.
  if (view.call.tool.needsPerson === true) return {};
  const suggestions = await suggestRules(view);
  const suggestion = await best(view, suggestions);
  return { suggestions, suggestion };
}

async function suggestRules(view: CallView): Promise<Suggestions> {
  const { tool, subject } = view.call;
  if (subject.command !== undefined) return commandRules(view, subject.command.trim());
  if (subject.url !== undefined) {
    const host = hostOf(subject.url);
    return {
      prefix: host === undefined ? undefined : `${tool.name}(domain:${host})`,
      tool: tool.name,
    };
  }
  if (tool.name === 'Skill') return skillRules(view);
  const [first] = subject.paths;
  if (first === undefined || (tool.kind !== 'read' && tool.kind !== 'edit')) {
    return { tool: tool.name };
  }
  return pathRules(view, first.path);
}

async function best(view: CallView, rules: Suggestions): Promise<string | undefined> {
  const { exact, prefix, tool } = rules;
  const { call } = view;
  if (call.tool.name === 'Skill') return exact ?? prefix;
  // One subcommand of a known program, the files of a directory, a host: what people mean. For
  // everything else this very call.
  const likesPrefix =
    call.subject.command === undefined ? call.tool.kind !== 'edit' : await isSubcommandCall(view);
  return likesPrefix ? (prefix ?? exact ?? tool) : (exact ?? prefix ?? tool);
}

async function isSubcommandCall(view: CallView): Promise<boolean> {
  const [only] = (await view.shell())?.commands ?? [];
  return only !== undefined && factsOf(unwrapForGrant(only.words).words).subcommands !== undefined;
}

async function commandRules(view: CallView, command: string): Promise<Suggestions> {
  const { name } = view.call.tool;
  const fits = command.length <= LONGEST_RULE && !command.includes('\n');
  const exact = fits ? { exact: `${name}(${escapedCommand(command)})` } : {};
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
  const length = fed ? undefined : prefixLength(words);
  if (length === undefined) return exact;
  return {
    ...exact,
    prefix: `${name}(${escapedCommand(canonicalText(words.slice(0, length)))} *)`,
  };
}

/** One skill, alone or with whatever words follow it. No rule for all skills. */
function skillRules(view: CallView): Suggestions {
  const { name } = view.call.tool;
  const { skill } = view.call.input;
  if (typeof skill !== 'string' || skill === '' || /[\s*()\\]/.test(skill)) return {};
  // The rule with the bare name is about a call without words.
  const exact = hasWords(view) ? {} : { exact: `${name}(${skill})` };
  return { ...exact, prefix: `${name}(${skill} *)` };
}

function hasWords({ call }: CallView): boolean {
  const { args } = call.input;
  return typeof args === 'string' && args !== '';
}

/** One file, or the files of its directory. */
function pathRules(view: CallView, path: string): Suggestions {
  const { tool, workspace } = view.call;
  const name = tool.kind === 'read' ? 'Read' : 'Edit';
  const { cwd } = workspace;
  const directory = dirname(path);
  const rule = (target: string): string => `${name}(${target})`;
  const spelled = (target: string): string =>
    isInside(target, cwd) ? `./${escapedPath(relative(cwd, target))}` : `/${escapedPath(target)}`;
  const exact = rule(spelled(path));
  // The rest of these is what a rule for a whole directory would open by accident.
  const isTooWide = directory === dirname(directory) || isInside(view.home, directory);
  if (isTooWide) return { exact };
  if (directory === cwd) return { exact, prefix: rule('./*') };
  const below = tool.kind === 'read' ? `/${escapedPath(directory)}` : spelled(directory);
  return { exact, prefix: rule(`${below}/**`) };
}

function escapedCommand(command: string): string {
  return command.replace(/[*()\\]/g, '\\$&');
}

function escapedPath(path: string): string {
  return toPosix(path).replace(/[\\*?[\]]/g, '\\$&');
}

/** What a host can send back as `updatedPermissions` so that such a call is not asked about again. */
export function suggestedUpdates(request: AskRequest): readonly PermissionUpdate[] {
  const { call, suggestion } = request;
  // What a guard holds, no rule opens.
  if (suggestion === undefined) return [];
  if (call.tool.kind === 'edit') return editUpdates(request);
  const rule = /^([^()]+)(?:\((.*)\))?$/s.exec(suggestion);
  const toolName = rule?.[1];
  if (toolName === undefined) return [];
  const ruleContent = rule?.[2];
  const destination = call.tool.kind === 'read' ? 'session' : 'localSettings';
  return [
    {
      type: 'addRules',
      rules: [{ toolName, ruleContent }],
      behavior: 'allow',
      destination,
    },
  ];
}

/** Edits are opened by mode, as people know it: all of them, for this session. */
function editUpdates({ call, mode }: AskRequest): readonly PermissionUpdate[] {
  const updates: PermissionUpdate[] = [];
  if (mode === 'default') {
    updates.push({ type: 'setMode', mode: 'acceptEdits', destination: 'session' });
  }
  const { roots } = call.workspace;
  const outside = call.subject.paths
    .filter(({ path }) => !roots.some((root) => isInside(path, root)))
    .map(({ path }) => dirname(path));
  if (outside.length > 0) {
    const directories = [...new Set(outside)];
    updates.push({ type: 'addDirectories', directories, destination: 'session' });
  }
  return updates;
}

/** What a rule lets through, in words: "every command that begins with `git push`". */
export function describeRule(rule: string): string {
  const found = /^([^()]+)\((.*)\)$/s.exec(rule.trim());
  if (found === null) return `every call of ${rule.trim()}`;
  const [, tool = '', spec = ''] = found;
  if (tool === 'Bash' || tool === 'PowerShell') return command(spec);
  const host = /^domain:(.+)$/.exec(spec)?.[1];
  if (host !== undefined) return `pages of ${host}`;
  if (tool === 'Read' || tool === 'Edit') return files(tool, spec);
  return `every call of ${tool} for ${plain(spec)}`;
}

function command(spec: string): string {
  const prefix = /^(.*?)(?: \*|:\*)$/s.exec(spec)?.[1];
  if (prefix !== undefined && !hasStar(prefix)) {
    return `every command that begins with \`${plain(prefix)}\``;
  }
  return hasStar(spec) ? `every command like \`${spec}\`` : `the command \`${plain(spec)}\` alone`;
}

function files(tool: 'Read' | 'Edit', spec: string): string {
  const doing = tool === 'Read' ? 'reading' : 'changing';
  const shown = spec.startsWith('//') ? spec.slice(1) : spec;
  if (shown.endsWith('/**')) return `${doing} every file below ${plain(shown.slice(0, -3))}`;
  if (shown === './*') return `${doing} every file directly in the working directory`;
  return hasStar(shown) ? `${doing} every file like ${shown}` : `${doing} ${plain(shown)}`;
}

function hasStar(text: string): boolean {
  return /(^|[^\\])\*/.test(text);
}

function plain(text: string): string {
  return text.replace(/\\([\\*()?[\]])/g, '$1');
}

/**
 * How many leading words of a command a rule for "commands like this" should fix, or undefined when
 * every such rule would open more than what was asked.
 */
function prefixLength(words: readonly ShellWord[]): number | undefined {
  const program = programOf(words);
  if (program === undefined || words[0]?.value !== program) return undefined;
  const { destroys, subcommands } = factsOf(words);
  if (runsAnything(words) || destroys === true) return undefined;
  if (simpleFileUse(words)?.writes[0] !== undefined) return undefined;
  const literal = words.every((word) => word.literal && word.pattern === undefined);
  if (!literal || hazardsIn({ words, fed: false }).length > 0) return undefined;
  if (subcommands === undefined) return words.length > 1 ? 1 : undefined;
  return subcommandLength(words, subcommands);
}

/** Whether it is a program that runs whatever its arguments name. */
export function runsAnything(words: readonly ShellWord[]): boolean {
  const { wraps, launches, shell, runsAnything: runs } = factsOf(words);
  return wraps !== undefined || launches === true || shell === true || runs === true;
}

function subcommandLength(
  words: readonly ShellWord[],
  { words: count = 1, groups, runs }: SubcommandFacts,
): number | undefined {
  const texts = words.map((word) => word.value);
  const [, first = ''] = texts;
  const isGroup = groups?.test(first) === true;
  const runsNext = factsOf(words).runsAfter?.test(first) === true && !isGroup;
  // An option in front of the subcommand may change what it does.
  if (!SUBCOMMAND.test(first) || runsNext || runs?.test(first) === true) return undefined;
  const length = 1 + count + (isGroup ? 1 : 0);
  const named = texts.slice(1, length);
  const isWhole = named.length === length - 1 && named.every((text) => SUBCOMMAND.test(text));
  return isWhole ? length : undefined;
}

const SUBCOMMAND = /^[a-z][a-z0-9:._-]*$/i;
