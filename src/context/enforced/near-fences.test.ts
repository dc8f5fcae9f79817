import { describe, expect, it } from 'vitest';
import { parseLocatedJson } from '../../settings/files/json.js';
import { enforcedRules } from './enforced.js';

const file = { path: '/p/CLAUDE.md', source: 'project', root: '/p' } as const;
const read = (text: string) => enforcedRules({ ...file, text }, parseLocatedJson);
const RULES = '{"deny": ["Bash"]}';

describe('rules that are meant as an enforced block and are none', () => {
  it.each([
    ['wide marks', `x\n\n\uff40\uff40\uff40portcullis\n${RULES}\n\uff40\uff40\uff40\n`, 3],
    [
      'wide letters and marks',
      `\uff40\uff40\uff40\uff50\uff4f\uff52\uff54\uff43\uff55\uff4c\uff4c\uff49\uff53\n${RULES}\n`,
      1,
    ],
    ['wide tildes', `\uff5e\uff5e\uff5eportcullis\n${RULES}\n\uff5e\uff5e\uff5e`, 1],
    ['quotes of a word processor', `\u2018\u2018\u2018portcullis\n${RULES}\n\u2019\u2019\u2019`, 1],
    ['letters that look like marks', `\u02cb\u02cb\u02cbportcullis\n${RULES}\n`, 1],
    ['accents', `\u00b4\u00b4\u00b4portcullis\n${RULES}\n`, 1],
    ['apostrophes', `'''portcullis\n${RULES}\n'''\n`, 1],
    ['mixed marks', `\`\`\uff40portcullis\n${RULES}\n`, 1],
    ['two marks', `x\n\n\`\`portcullis\n${RULES}\n\`\`\n`, 3],
    ['two tildes', `~~portcullis\n${RULES}\n~~\n`, 1],
    ['two marks and a blank', `\`\` portcullis\n${RULES}\n\`\`\n`, 1],
    ['two marks and more words', `\`\`portcullis json\n{\n  "ask": ["Bash"]\n}\n\`\`\n`, 1],
    ['two marks and a misspelt word', `\`\`portculis\n${RULES}\n\`\`\n`, 1],
    ['two marks on one line', `\`\`portcullis ${RULES}\`\`\n`, 1],
    ['wide marks on one line', `\uff40\uff40\uff40portcullis ${RULES}\uff40\uff40\uff40\n`, 1],
    ['one mark', `\`portcullis\n${RULES}\n\`\n`, 1],
    ['no mark', `portcullis\n${RULES}\n`, 1],
    ['no mark in a list', `- portcullis\n  ${RULES}\n`, 1],
    ['two marks in a quote', `> \`\`portcullis\n> ${RULES}\n> \`\`\n`, 1],
    ['two marks far in', `x\n\n    \`\`portcullis\n    ${RULES}\n    \`\`\n`, 3],
    ['a colon behind the word', `Portcullis:\n\n${RULES}\n`, 1],
    ['marks of another format', `:::portcullis\n${RULES}\n:::\n`, 1],
    ['a heading', `## portcullis\n\n{\n  "permissions": {"deny": ["Bash"]}\n}\n`, 1],
    ['the word below the fence', `\`\`\`\nportcullis\n${RULES}\n\`\`\`\n`, 2],
    ['the word below, with a language', `\`\`\`json\nportcullis\n${RULES}\n\`\`\`\n`, 2],
    ['the word below, behind a blank line', `~~~\n\n  Portcullis:\n\n${RULES}\n~~~\n`, 3],
    ['the word below, in a list', `- \`\`\`\n  portcullis\n  ${RULES}\n  \`\`\`\n`, 2],
    ['the word below, in a block that stays open', `\`\`\`\nportcullis\n${RULES}\n`, 2],
    ['the word above the fence', `portcullis\n\`\`\`\n${RULES}\n\`\`\`\n`, 1],
    ['the word above, with a language', `**portcullis**:\n\n\`\`\`json\n${RULES}\n\`\`\`\n`, 1],
    ['rules that are spelled otherwise', `\`\`portcullis\n{deny: ['Bash']}\n\`\`\n`, 1],
    ['rules in other quotes', `\`\`portcullis\n{\u201cdeny\u201d: [\u201cBash\u201d]}\n\`\`\n`, 1],
  ])('stop the start: %s', (_what, text, line) => {
    const { problems } = read(text);
    expect(problems).toMatchObject([{ severity: 'fatal', file: '/p/CLAUDE.md', line }]);
    expect(problems[0]?.remedy).toContain('portcullis');
  });
});

/** What people write around the word without meaning a restriction. */
const MENTIONS = [
  'Portcullis',
  'portcullis',
  'We use portcullis here.',
  '`portcullis`',
  '``portcullis``',
  '**portcullis**',
  '# Portcullis',
  '## The portcullis block',
  '- portcullis',
  '1. Install portcullis',
  '> portcullis says no',
  '[portcullis](https://example.com/portcullis)',
  'A block with ```portcullis``` behind the fence restricts.',
  'Write `` ```portcullis `` at the beginning of a line.',
  '| portcullis | yes |',
  '--portcullis-flag',
  '<portcullis-config>',
  '"portcullis" is the word.',
  '--- portcullis ---',
  '<!-- portcullis -->',
];
const NEIGHBOURS = [
  'Then more text.',
  'The rules `{"deny": ["Bash"]}` go into a block.',
  '```sh\nportcullis --help\n```',
  '```\nportcullis\n```',
  '```console\n$ portcullis\n{"result": "ok", "deny": 1}\n```',
  '```json\n{"name": "portcullis"}\n```',
  '```json\n{"permissions": {"deny": ["Bash"]}}\n```',
  '```jsonc\n// portcullis\n{"permissions": {"deny": ["Bash"]}}\n```',
  '````md\n```portcullis\n{"deny": ["Bash"]}\n```\n````',
  '````md\n``portcullis\n{"deny": ["Bash"]}\n``\n````',
  '~~~\n```portcullis\n{"deny": ["Bash"]}\n```\n~~~',
  '````md\n```\nportcullis\n{"deny": ["Bash"]}\n```\n````',
  '{{ template }} of deny: all',
  '{% if deny %}',
  '| deny | ask |\n|---|---|',
  '<!--\n``portcullis\n{"deny": ["Bash"]}\n``\n-->',
  '- {"name": "x"}',
  '',
];

describe('a text that mentions the word', () => {
  const samples = MENTIONS.flatMap((mention) =>
    NEIGHBOURS.flatMap((near) => [
      `${mention}\n\n${near}\n`,
      `${near}\n\n${mention}\n`,
      `Intro.\n\n${mention}\n\nAnd so on.\n\n${near}\n`,
      `${mention} in a sentence.\n${near}\n`,
      `${near}\n\n---\n\n${mention}\n\n${near}\n`,
    ]),
  );

  it(`is no problem, in ${samples.length} samples`, () => {
    const loud = samples.filter((text) => read(text).problems.length > 0);
    expect(loud).toEqual([]);
  });

  it('is gone through in time with its length', () => {
    const many = `portcullis\n${'\n'.repeat(200)}`.repeat(500);
    expect(read(many).problems).toEqual([]);
    expect(read(`${'-'.repeat(500_000)}\nportcullis\n`).problems).toEqual([]);
    expect(read(`portcullis ${'{'.repeat(500_000)}`).problems).toEqual([]);
    expect(read('p'.repeat(500_000)).problems).toEqual([]);
  });
});
