import type { PolicyCase } from './first-policy.js';
import { DIRECTORIES, type Repository } from './repository.js';

/** A first AGENTS.md: what the files of the project say, and a place for what they do not. */
export function firstInstructions(repository: Repository): string {
  const { name, description, languages, packageManagers, commands, directories } = repository;
  const facts = [languages.join(', '), packageManagers.join(', ')].filter((one) => one !== '');
  const sections = [
    `# ${name}`,
    ...(description === undefined ? [] : [description]),
    ...(facts.length === 0 ? [] : [`${facts.join('; ')}.`]),
    ...section('Commands', [
      ['command', 'what it does'],
      ...commands.map(({ command, purpose }) => [`\`${command}\``, PURPOSES[purpose]] as const),
    ]),
    ...section('Layout', [
      ['where', 'what'],
      ...directories.map((one) => [`\`${one}/\``, DIRECTORIES[one] ?? ''] as const),
    ]),
    '## Conventions',
    '<!-- What you would tell a new colleague: style, what to run before a commit, what not to touch. -->',
  ];
  return `${sections.join('\n\n')}\n`;
}

const PURPOSES = {
  build: 'builds the project',
  test: 'runs the tests',
  lint: 'checks the code',
} as const;

/** A table below a heading; nothing where the table has only its head. */
function section(title: string, rows: readonly (readonly [string, string])[]): readonly string[] {
  const [head = '', ...lines] = rows.map((cells) => `| ${cells.map(cell).join(' | ')} |`);
  return lines.length === 0 ? [] : [`## ${title}`, [head, '|---|---|', ...lines].join('\n')];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Tests of the first policy, for `portcullis policy test`. */
export function policyTestTable(cases: readonly PolicyCase[]): string {
  const entries = cases.flatMap(({ list, calls }) =>
    calls.map((call) => `- call: ${quoted(call)}\n  expect: ${list}\n`),
  );
  return `# What the rules in settings.json decide. Run with: portcullis policy test\n${entries.join('')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
