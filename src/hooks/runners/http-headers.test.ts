// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are templates of hooks
import { describe, expect, it } from 'vitest';
import { hookHeaders } from './http.js';

const env = { TOKEN: 'abc', OTHER: 'no', EVIL: 'a\r\nX-Evil: 1\0\u0085\t', NEST: '$TOKEN' };

function filled(templates: Record<string, string>, ...names: string[]) {
  return hookHeaders(templates, { env, mayPass: (name) => names.includes(name) });
}

describe('the headers of an http hook', () => {
  it('are filled with the variables that may pass, and with nothing for others', () => {
    expect(
      filled({ 'X-A': 'v $TOKEN ${OTHER} $MISSING ${TOKEN}x$TOKENS.' }, 'TOKEN', 'MISSING'),
    ).toEqual({
      ok: true,
      value: {
        headers: { 'x-a': 'v abc   abcx.' },
        leftOut: ['OTHER', 'MISSING', 'TOKENS'],
      },
    });
  });

  it('do not take what is filled in for a variable', () => {
    expect(filled({ a: '${NEST}' }, 'NEST', 'TOKEN')).toMatchObject({
      value: { headers: { a: '$TOKEN' } },
    });
  });

  it('do not find what every object has', () => {
    expect(filled({ a: '<$constructor$__proto__$toString>' }, 'constructor', '__proto__')).toEqual({
      ok: true,
      value: { headers: { a: '<>' }, leftOut: ['constructor', '__proto__', 'toString'] },
    });
  });

  it('leave alone what is no variable', () => {
    expect(filled({ a: '$ $1 ${} ${a-b} 100$' })).toMatchObject({
      value: { headers: { a: '$ $1 ${} ${a-b} 100$' }, leftOut: [] },
    });
  });

  it('lose control characters, whether written or filled in', () => {
    expect(filled({ a: 'x\r\nY: 2', b: '$EVIL' }, 'EVIL')).toMatchObject({
      value: { headers: { a: 'xY: 2', b: 'aX-Evil: 1' } },
    });
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'upgrade',
    'TE',
    'trailer',
    'keep-alive',
    'Expect',
    'Proxy-Authorization',
  ])('may not set %s', (name) => {
    expect(filled({ [name]: 'x' })).toEqual({
      ok: false,
      error: `the header ${name} may not be set`,
    });
  });

  it.each(['', 'a b', 'a:b', 'a\r\nb', 'ä', 'a\0'])('may not be called %j', (name) => {
    expect(filled({ [name]: 'x' })).toMatchObject({ ok: false });
  });

  it('may not be given twice', () => {
    expect(filled({ Authorization: 'a', authorization: 'b' })).toMatchObject({ ok: false });
  });
});
