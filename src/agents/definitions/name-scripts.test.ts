import { describe, expect, it } from 'vitest';
import { typeProblem } from './names.js';

describe('a name that reads like another', () => {
  it.each([
    ['rеviewer', 'mixes alphabets'],
    ['Ехplore', 'mixes alphabets'],
    ['rεviewer', 'mixes alphabets'],
    ['сode-reviewеr', 'mixes alphabets'],
    ['revieԝer', 'mixes alphabets'],
    ['reviewer一а', 'mixes alphabets'],
    ['ꮯode', 'mixes alphabets'],
    ['ｒeviewer', 'look-alikes'],
    ['𝐫eviewer', 'look-alikes'],
    ['ﬁxer', 'look-alikes'],
    ['codinɡ', 'look-alikes'],
    ['re\u200bviewer', 'hidden characters'],
    ['re\u00adviewer', 'hidden characters'],
    ['re\u034fviewer', 'hidden characters'],
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
