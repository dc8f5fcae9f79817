import { describe, expect, it } from 'vitest';
import { typeProblem } from './names.js';

describe('a name that reads like another', () => {
  it.each([
    ['rеviewer', 'Cyrillic ("е", U+0435)'],
    ['Ехplore', 'several scripts'],
    ['rεviewer', 'Greek'],
    ['сode-reviewеr', 'several scripts'],
    ['revieԝer', 'Cyrillic'],
    ['reviewer一а', 'several scripts'],
    ['ꮯode', 'Cherokee'],
    ['ｒeviewer', 'write "reviewer"'],
    ['𝐫eviewer', 'write "reviewer"'],
    ['ﬁxer', 'write "fixer"'],
    ['codinɡ', 'U+0261'],
    ['re\u200bviewer', 'hidden characters'],
    ['re\u00adviewer', 'hidden characters'],
    ['re\u034fviewer', 'not shown (U+034F)'],
    ['re\u3164viewer', 'hidden characters'],
    ['re\ufe0fviewer', 'hidden characters'],
  ])('%j is refused', (name, why) => {
    expect(typeProblem(name)).toContain(why);
  });

  it.each([
    'reviewer',
    'обзор',
    'проверка-кода_2',
    'café',
    'straßenprüfer',
    'κριτής',
    'レビュー担当',
    'コードreview',
    '代码审查',
    'api审查',
    '코드리뷰',
    'मराठी',
    'ผู้ตรวจ',
    'բաժին',
    'ırmak',
  ])('%j is one that people have', (name) => {
    expect(typeProblem(name.normalize('NFC'))).toBeUndefined();
  });
});
