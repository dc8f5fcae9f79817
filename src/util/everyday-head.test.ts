import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everydayHead } from './everyday-head.js';
import { plainHead } from './plain-head.js';

describe('everydayHead', () => {
  it('reads a name and a description in either order', () => {
    expect(
      everydayHead('---\nname: deploy-it\ndescription: Ships it, at once.\n---\nText'),
    ).toEqual({
      name: 'deploy-it',
      description: 'Ships it, at once.',
      keys: ['name', 'description'],
      lines: { name: 2, description: 3 },
      bodyLine: 5,
      bodyAt: 56,
    });
    expect(everydayHead('---\ndescription: Ships it.\nname: deploy-it\n---\n')).toMatchObject({
      name: 'deploy-it',
      description: 'Ships it.',
      keys: ['description', 'name'],
      lines: { name: 3, description: 2 },
    });
  });

  it('reads every text that is plain', () => {
    for (const text of ['lint', 'Ships  it', 'See http://x.test', 'Prüft C#', 'Falsely']) {
      expect(everydayHead(headOf(text))?.description).toBe(text);
    }
  });

  it('says nothing about any other head', () => {
    const others = [
      '',
      '---\n',
      '---\nname: deploy-it',
      '---\nname: deploy-it\n',
      '---\nname: deploy-it\n---\n',
      '---\nname: deploy-it\ndescription: Ships it.',
      '---\nname: deploy-it\ndescription: Ships it.\n---',
      '---\nname: deploy-it\ndescription: Ships it.\n--- \n',
      '---\nname: deploy-it\ndescription: Ships it.\nmodel: other-one\n---\n',
      '---\nname: deploy-it\nname: deploy-it\n---\n',
      '---\r\nname: deploy-it\r\ndescription: Ships it.\r\n---\r\n',
      '\uFEFF---\nname: deploy-it\ndescription: Ships it.\n---\n',
      ...['true', 'FALSE', 'null', '~', '"a quoted one"', '[one, two]', '123456', '', ' blanks'],
      ...['Ships: all of it', 'Ships it #1 # no', 'Ships it ', 'Ships \tit', 'Ünlike'],
      ...['Ships it:', 'Ships \u2028it', '|', '> folded', '*alias-of', '&anchor-of'],
    ].map((one) => (one.startsWith('---') || one === '' ? one : headOf(one)));
    for (const text of others) expect(everydayHead(text), JSON.stringify(text)).toBeUndefined();
    expect(everydayHead(headOf('a'.repeat(20_000)))).toBeUndefined();
  });

  it('reads what the reader of all plain heads reads, where nothing else is said', () => {
    const part = fc.constantFrom(
      ...[
        '---',
        '\n',
        'name',
        'description',
        ': ',
        ':',
        ' ',
        '#',
        'Ships it',
        'true',
        '-',
        '\r',
        'é',
      ],
    );
    const anything = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(''));
    const nearly = fc
      .tuple(anything, anything, fc.boolean())
      .map(([a, b, swap]) => (swap ? [b, a] : [a, b]))
      .map(([a, b]) => `---\nname: deploy${a}\ndescription: Ships it${b}\n---\nText`);
    fc.assert(
      fc.property(fc.oneof(anything, nearly), (text) => {
        const found = everydayHead(text);
        const head = plainHead(text);
        const isEveryday =
          Object.keys(head?.fields ?? {})
            .sort()
            .join() === 'description,name';
        expect(found !== undefined).toBe(isEveryday);
        if (found === undefined) return;
        const { name, description, lines, keys, bodyAt, bodyLine } = found;
        expect(head?.fields).toEqual({ name, description });
        expect(Object.keys(head?.fields ?? {})).toEqual(keys);
        expect(Object.fromEntries(head?.lines ?? [])).toEqual(lines);
        expect(head?.body).toBe(text.slice(bodyAt));
        expect(head?.bodyLine).toBe(bodyLine);
      }),
    );
  });
});

function headOf(description: string): string {
  return `---\nname: deploy-it\ndescription: ${description}\n---\n`;
}
