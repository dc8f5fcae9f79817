import { oneLine } from './names.js';

const LONGEST_FIRST_WORDS = 1_536;

/** The first paragraph that is no heading; a lone heading where there is nothing else. */
export function firstWords(body: string): string {
  const paragraphs = body
    .slice(0, 4 * LONGEST_FIRST_WORDS)
    .split(/\n[ \t]*\n/)
    .map((part) => part.replace(/^(?:[ \t]*#{1,6}[ \t].*\n?)+/, '').trim());
  const first = paragraphs.find((part) => part !== '' && !part.startsWith('<!--'));
  const heading = /^[ \t]*#{1,6}[ \t]+(.*)$/m.exec(body.slice(0, LONGEST_FIRST_WORDS))?.[1];
  return oneLine(first ?? heading ?? '').slice(0, LONGEST_FIRST_WORDS);
}
