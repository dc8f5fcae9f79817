import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance } from '../../src/lib/text/nearest.js';
import { agents } from './agents.js';
import { commands } from './commands.js';
import { READINGS } from './readings.js';
import { type CorpusRow, type CorpusTable, withHead } from './rows.js';
import { skills } from './skills.js';

type Reading = Readonly<Record<string, unknown>>;

/** Rows with a head between two rulers, so that a line can be put into it. */
const headed = ({ rows }: CorpusTable): readonly CorpusRow[] =>
  rows.filter(({ text }) => /^---\n(?:[^\n]*\n)*?[^\n]*:[^\n]*\n(?:[^\n]*\n)*?---\n/.test(text));

const name = fc
  .tuple(
    fc.constantFrom('note', 'info', 'zone', 'kind', 'label', 'origin', 'stage'),
    fc.stringMatching(/^[a-z]{3,8}$/),
  )
  .map(([first, second]) => `x-${first}-${second}`);
const value = fc.constantFrom(
  '1.0.0',
  'yes',
  '[a, b]',
  '"a: b"',
  'Use when: asked',
  '{a: b}',
  '[a] [b]',
  '',
);
const described = fc.tuple(name, value).map(([key, text]) => `${key}: ${text}`);

/** The same file with further lines at the beginning or the end of its head. */
function withLines(text: string, lines: readonly string[], atEnd: boolean): string {
  const added = `${lines.join('\n')}\n`;
  if (!atEnd) return text.replace('---\n', `---\n${added}`);
  const at = text.indexOf('\n---\n', 3) + 1;
  return text.slice(0, at) + added + text.slice(at);
}

const RESTRICTING = {
  skill: ['disallowedTools', 'fenceTools', 'hooks', 'disableModelInvocation', 'userInvocable'],
  agent: ['tools', 'disallowedTools', 'permissionMode', 'maxTurns', 'hooks', 'asks', 'budget'],
} as const;

/** fail-closed in all: what was refused, asked about or held back is so afterwards. */
function expectNoWeaker(before: Reading, after: Reading, fields: readonly string[]): void {
  if (after.loads !== true) return;
  expect(before.loads).toBe(true);
  expect(after.asks).toEqual(before.asks);
  expect(after.allowedTools).toEqual(before.allowedTools);
  for (const field of fields) expect(after[field]).toEqual(before[field]);
}

describe('unknown fields that describe', () => {
  it.each([
    ['skill', headed(skills), RESTRICTING.skill],
    ['command', headed(commands), RESTRICTING.skill],
    ['agent', headed(agents), RESTRICTING.agent],
  ] as const)('open nothing and take no restriction away: %s', async (kind, rows, fields) => {
    const read = READINGS[kind];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...rows),
        fc.array(described, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async ({ text }, lines, atEnd) => {
          const before = (await read?.(text)) ?? {};
          const after = (await read?.(withLines(text, lines, atEnd))) ?? {};
          expectNoWeaker(before, after, fields);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** A name with up to two letters changed, lost, doubled or swapped. */
function slipped(word: string): fc.Arbitrary<string> {
  const slip = (text: string, [how, at]: readonly [number, number]): string => {
    const index = at % text.length;
    const [before, letter, after] = [
      text.slice(0, index),
      text[index] ?? '',
      text.slice(index + 1),
    ];
    if (how === 0) return `${before}${after}`;
    if (how === 1) return `${before}${letter}${letter}${after}`;
    if (how === 2) return `${before}${after.slice(0, 1)}${letter}${after.slice(1)}`;
    return `${before}q${after}`;
  };
  const one = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 40 }));
  return fc
    .array(one, { minLength: 1, maxLength: 2 })
    .map((slips) => slips.reduce<string>(slip, word));
}

function isNear(field: string, word: string): boolean {
  const plain = (text: string): string => text.replaceAll('-', '').toLowerCase();
  return editDistance(plain(field), plain(word)) <= 2;
}

describe('a slip in the name of what restricts', () => {
  const BANNED = { skill: ['disallowed-tools', 'fence-tools'], agent: ['disallowedTools'] };

  it.each(['skill', 'agent'] as const)('never loads in silence: %s', async (kind) => {
    const read = READINGS[kind];
    const written = fc.constantFrom(...BANNED[kind]).chain(slipped);
    await fc.assert(
      fc.asyncProperty(written, async (field) => {
        fc.pre(/^[A-Za-z][\w-]*$/.test(field) && BANNED[kind].some((one) => isNear(field, one)));
        const text = withHead('name: x', 'description: d', `${field}: Bash`);
        const reading = (await read?.(text)) ?? {};
        const { loads, disallowedTools, fenceTools } = reading;
        const holds = [disallowedTools, fenceTools].some(
          (one) => JSON.stringify(one) === '["Bash"]',
        );
        expect(loads === false || holds).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
