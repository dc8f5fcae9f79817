import { describe, expect, it } from 'vitest';
import { literalWord } from '../shell/model.js';
import { startsOf } from './tree-restriction.js';

const ALONE = { fed: false, names: () => false, mayBeSet: () => false };
const taken = (line: string) =>
  startsOf(line.split(' ').map(literalWord), ALONE).map(({ access, start, moves = [] }) =>
    [access, ...moves, start.value].join(' '),
  );

describe('directories that a command takes in whole', () => {
  it.each([
    ['rm -rf d', ['write d']],
    ['rm d', []],
    ['mv d e f', ['write d', 'write e']],
    ['cp -r d e', ['read d']],
    ['cp d e', []],
    ['tar cf - -C d/s gen', ['read d/s gen']],
    ['grep -r SEC', ['read .']],
    ['grep -r SEC d', ['read d']],
    ['grep SEC d', []],
    ['rg SEC', ['read .']],
    ['find d -delete', ['write d']],
    ['find -name x -delete', ['write .']],
    ['find d -name x', []],
    ['find d -exec touch {} +', ['write d']],
    ['find d -name x -execdir cat {} ;', ['read d']],
    ['find d -exec echo {} ;', []],
    ['gzip -r d', ['write d']],
    ['gzip d', []],
    ['git rm -r d', ['write d']],
    ['git mv d e', ['write d']],
    ['git -C s clean -fd d', ['write s d']],
    ['git checkout -- d', ['write d']],
    ['git restore d', ['write d']],
    ['git grep SEC d', ['read d']],
    ['git stash', []],
    ['ls d', []],
    ['constructor d', []],
  ])('%s', (line, expected) => {
    expect(taken(line)).toEqual(expected);
  });
});
