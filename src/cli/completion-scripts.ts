import type { CompletedOption, CompletedValue, CompletionNode } from './completion-tree.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script of a shell. It starts the program only to look up sessions and models. */
export function completionScript(shell: Shell, nodes: readonly CompletionNode[]): string {
  return { bash, zsh, fish }[shell](nodes);
}

/** Options with a value, as patterns of `case` over ` command --option`, by what completes them. */
function valueCases(
  nodes: readonly CompletionNode[],
  act: (value: Exclude<CompletedValue, 'files'>) => string,
): string {
  const patterns = new Map<string, string[]>();
  for (const { at, options } of nodes) {
    for (const { names, value } of options) {
      // Files complete whatever has no case.
      if (value === undefined || value === 'files') continue;
      const action = act(value);
      patterns.set(action, [
        ...(patterns.get(action) ?? []),
        ...names.map((name) => `'${at} ${name}'`),
      ]);
    }
  }
  return [...patterns].map(([action, all]) => `      ${all.join(' | ')})\n${action}`).join('');
}

/** Paths of all commands, as patterns of `case`. */
function paths(nodes: readonly CompletionNode[]): readonly string[] {
  return nodes.flatMap(({ at }) => (at === '' ? [] : [`'${at}'`]));
}

function bash(nodes: readonly CompletionNode[]): string {
  const words = ({ commands, options }: CompletionNode): string => `        commands='${commands
    .map(({ name }) => name)
    .join(' ')}'
        options='${options.flatMap(({ names }) => names).join(' ')}' ;;
`;
  const value = (how: Exclude<CompletedValue, 'files'>): string => {
    const list =
      typeof how === 'string'
        ? `"$("\${COMP_WORDS[0]}" completion --values ${how} 2>/dev/null | cut -f1)"`
        : `'${how.join(' ')}'`;
    return `        COMPREPLY=($(compgen -W ${list} -- "$cur"))\n        return ;;\n`;
  };
  return `# bash completion for portcullis. Load it with: source <(portcullis completion bash)
_portcullis() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= commands= options= i
  # bash makes a word of the = in --option=value.
  [[ $cur == '=' ]] && cur=
  [[ $prev == '=' ]] && prev=\${COMP_WORDS[COMP_CWORD-2]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths(nodes).join(' | ')})
        at="$at \${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  if [[ $cur != -* ]]; then
    case "$at $prev" in
${valueCases(nodes, value)}    esac
  fi
  case "$at" in
${nodes.map((node) => `      '${node.at}')\n${words(node)}`).join('')}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif ((i == COMP_CWORD)); then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  fi
}
complete -o default -F _portcullis portcullis
`;
}

function zsh(nodes: readonly CompletionNode[]): string {
  const described = (name: string, description: string): string =>
    `'${name.replaceAll(':', '\\:')}:${quote(description)}'`;
  const words = ({ commands, options }: CompletionNode): string => `      commands=(${commands
    .map(({ name, description }) => described(name, description))
    .join(' ')})
      options=(${options
        .flatMap(({ names, description }) => names.map((name) => described(name, description)))
        .join(' ')}) ;;
`;
  const value = (how: Exclude<CompletedValue, 'files'>): string => {
    if (typeof how !== 'string') return `        compadd -- ${how.join(' ')}; return ;;\n`;
    const found = `\${(f)"$($words[1] completion --values ${how} 2>/dev/null)"}`;
    if (how === 'models') return `        compadd -- ${found}; return ;;\n`;
    return `        names=(${found})
        names=(\${names/$'\\t'/:})
        _describe -V '${how}' names; return ;;
`;
  };
  return `#compdef portcullis
# zsh completion for portcullis. Load it with: source <(portcullis completion zsh)
_portcullis() {
  local cur=$words[CURRENT] prev=$words[CURRENT-1] at='' i
  local -a commands options names
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    cur=\${cur#*=}
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      ${paths(nodes).join(' | ')})
        at="$at $words[i]" ;;
      *) break ;;
    esac
  done
  if [[ $cur != -* ]]; then
    case "$at $prev" in
${valueCases(nodes, value)}    esac
  fi
  case "$at" in
${nodes.map((node) => `    '${node.at}')\n${words(node)}`).join('')}  esac
  if [[ $cur == -* ]]; then
    _describe -o 'option' options
  elif ((i == CURRENT && $#commands > 0)); then
    _describe 'command' commands
  else
    _files
  fi
}
compdef _portcullis portcullis
[[ $funcstack[1] == _portcullis ]] && _portcullis "$@"
true
`;
}

/** For the inside of single quotes in bash and zsh. */
function quote(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function fish(nodes: readonly CompletionNode[]): string {
  const text = (words: string): string =>
    `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const when = (at: string, what: string): string =>
    `complete -c portcullis -n "__portcullis_at '${at}' ${what}"`;
  const option = (at: string, { names, description, value }: CompletedOption): string => {
    const spelled = names.map((name) =>
      name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
    );
    const takes =
      value === undefined
        ? ''
        : value === 'files'
          ? ' -r'
          : ` -x -a ${typeof value === 'string' ? `'(portcullis completion --values ${value})'` : text(value.join(' '))}`;
    return `${when(at, 'option')} ${spelled.join(' ')}${takes} -d ${text(description)}\n`;
  };
  return `# fish completion for portcullis. Load it with: portcullis completion fish | source
function __portcullis_at
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -l at ''
    set -l rest no
    for token in $tokens
        switch "$at $token"
            case ${paths(nodes).join(' ')}
                set at "$at $token"
            case '*'
                set rest yes
                break
        end
    end
    test "$at" = "$argv[1]"; and test "$rest" = no -o "$argv[2]" = option
end
${nodes
  .flatMap(({ at, commands, options }) => [
    ...commands.map(
      ({ name, description }) => `${when(at, 'command')} -f -a ${name} -d ${text(description)}\n`,
    ),
    ...options.map((one) => option(at, one)),
  ])
  .join('')}`;
}
