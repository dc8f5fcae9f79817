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
