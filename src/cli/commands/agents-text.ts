import type { AgentDefinition } from '../../agents/definition.js';
import { toolWords } from '../../agents/definition-listing.js';
import { displayPath, isAbsolute } from '../../env/paths.js';
import { visible } from '../../util/visible.js';

/** A definition without its prompt, for machines. */
export function agentData(definition: AgentDefinition): Readonly<Record<string, unknown>> {
  const { prompt: _, tools, ...fields } = definition;
  // JSON knows no undefined: all tools are a word, none is an empty list.
  return { ...fields, tools: tools ?? '*' };
}

/** `file:line` as people read it; what is no file stays as it is. */
export function whereOf(
  { place, line }: { readonly place: string; readonly line?: number | undefined },
  cwd: string,
): string {
  const shown = isAbsolute(place) ? displayPath(place, cwd) : place;
  return visible(line === undefined ? shown : `${shown}:${line}`);
}

export function placeOfDefinition({ file, line, source }: AgentDefinition, cwd: string): string {
  if (file !== undefined) return whereOf({ place: file, line }, cwd);
  return source === 'flag' ? '--agents' : 'built-in';
}

/** What an agent may do, in lines. */
export function factsOf(definition: AgentDefinition): readonly string[] {
  const { model, effort, permissionMode, maxTurns, memory, skills, mcpServers } = definition;
  const { hooks, background, foregroundOnly, workspace, budget, asks, heldBack } = definition;
  const isOfPlugin = definition.source === 'plugin';
  const limits = Object.entries(budget).map(([name, value]) => `${name} ${value}`);
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['tools', toolWords(definition)],
    ['model', model ?? 'inherit'],
    ['effort', effort],
    ['mode', permissionMode],
    ['turns at most', maxTurns],
    ['budget', limits.join(', ')],
    ['skills', skills.join(', ')],
    ['servers', mcpServers.map(({ name }) => name).join(', ')],
    ['hooks', Object.keys(hooks ?? {}).join(', ')],
    ['memory', memory],
    ['workspace', workspace.kind === 'directory' ? workspace.path : undefined],
    ['workspace', ['worktree', 'scratch'].find((kind) => kind === workspace.kind)],
    ['runs', background ? 'always in the background' : undefined],
    ['runs', foregroundOnly ? 'never in the background' : undefined],
    ['asks', asks === 'deny' ? 'are refused' : undefined],
    [
      isOfPlugin
        ? 'without effect in agents of plugins'
        : 'held back, as the folder is not trusted',
      heldBack?.join(', '),
    ],
  ];
  return facts
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}: ${visible(String(value))}`);
}
