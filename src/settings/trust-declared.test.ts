import { describe, expect, it } from 'vitest';
import { Declarations, Declared, type DeclaredIn, DeclaredList } from './trust-declared.js';
import type { Draft } from './trust-types.js';

const from: DeclaredIn = {
  file: '/p/.claude/settings.json',
  level: '',
  complete: true,
  digest: ({ text }, index) => `${index} ${text}`,
  line: ({ way }) => Number(way.at(-1)) + 3,
};
const mode: Draft = { kind: 'mode', name: 'm', text: 'plan', way: ['m'], value: 'plan' };

describe('declarations', () => {
  it('of a list stand in their order among the others, each with its own line and digest', () => {
    const items = ['Read', 'Bash', { odd: 1 }];
    const list = { kind: 'allow rule', name: 'permissions.allow', way: ['a'], items } as const;
    const all = new Declarations([
      new Declared(mode, from, 0),
      new DeclaredList(list, from, 1),
      new Declared(mode, from, 4),
    ]).all();
    expect(all.map(({ digest }) => digest)).toEqual([
      '0 plan',
      '1 Read',
      '2 Bash',
      '3 {"odd":1}',
      '4 plan',
    ]);
    expect(all[2]).toMatchObject({ kind: 'allow rule', text: 'Bash', line: 4, pinned: true });
  });

  it('of a list are made once, when somebody asks', () => {
    let made = 0;
    const items = new Proxy(['Read'], {
      get(target, key) {
        if (key === 'map') made++;
        return Reflect.get(target, key);
      },
    });
    const list = { kind: 'allow rule', name: 'n', way: ['a'], items } as const;
    const found = new Declarations([new DeclaredList(list, from, 0)]);
    expect([found.isNone, made]).toEqual([false, 0]);
    expect(found.all()).toBe(found.all());
    expect(made).toBe(1);
  });
});
