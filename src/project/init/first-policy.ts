import type { Repository } from './repository.js';

/** Calls and what has to be decided about them, by a rule that init adds or without one. */
export interface PolicyCase {
  readonly list: 'allow' | 'ask' | 'deny';
  readonly rule?: string;
  /** As `policy test` reads them. */
  readonly calls: readonly string[];
}

/** Files that hold secrets in most projects. `.env.example` stays readable. */
const SECRET_FILES = [
  '.env',
  '.env.local',
  '.env.*.local',
  '.env.production',
  '.env.staging',
  'id_rsa',
  'id_ecdsa',
  'id_ed25519',
];

/** The policy to start with: the project's commands run, secrets stay closed, publishing asks. */
export function firstPolicy({ commands, publishing }: Repository): readonly PolicyCase[] {
  const [first] = commands;
  return [
    ...commands.map(({ command }): PolicyCase => {
      const rule = `Bash(${command})`;
      return { list: 'allow', rule, calls: [rule] };
    }),
    ...['git push', ...publishing].map(
      (command): PolicyCase => ({
        list: 'ask',
        rule: `Bash(${command} *)`,
        calls: [`Bash(${command})`],
      }),
    ),
    ...SECRET_FILES.map((pattern): PolicyCase => {
      const calls = [`Read(${pattern.replace('*', 'x')})`];
      return { list: 'deny', rule: `Read(${pattern})`, calls };
    }),
    { list: 'ask', calls: ['Bash(git push --force origin main)'] },
    { list: 'deny', calls: ['Read(config/.env)', 'Bash(cat .env)'] },
    { list: 'allow', calls: ['Read(.env.example)'] },
    ...(first === undefined
      ? []
      : [{ list: 'ask', calls: [`Bash(${first.command} && git push)`] } as const]),
  ];
}
