import { expect, it } from 'vitest';
import { originOf } from '../../lib/sourced.js';
import type { SettingsFile, Way } from '../types.js';
import { ListedRule } from './listed-rule.js';

it('is where its list is, and its line is looked for when somebody asks', () => {
  const asked: Way[] = [];
  const owner: SettingsFile = {
    source: 'project',
    file: '/p/.claude/settings.json',
    root: '/p',
    trusted: false,
    content: {},
    duplicates: [],
    lineOf(way) {
      asked.push(way);
      return 7;
    },
  };
  const list = { owner, way: ['permissions', 'deny'] };
  const rule = new ListedRule({ text: 'Bash(rm *)', root: '/p' }, list, 2);
  expect([rule.source, rule.trusted, rule.value.text]).toEqual(['project', false, 'Bash(rm *)']);
  expect(asked).toEqual([]);
  expect(originOf(rule)).toBe('/p/.claude/settings.json:7');
  expect(asked.at(-1)).toEqual(['permissions', 'deny', 2]);
});
