import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyAddress } from '../../platform/http/ip-address.js';
import {
  hostHeaderAgrees,
  judgeAddresses,
  judgeTarget,
  parseAbsolute,
  parseAuthority,
  targetOf,
} from './proxy-rules.js';

describe('targets', () => {
  it.each([
    ['example.com:443', { host: 'example.com', port: 443 }],
    ['EXAMPLE.com.:443', { host: 'example.com', port: 443 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
    ['a@b:80', undefined],
    ['a b:80', undefined],
    ['a/b:80', undefined],
    ['a:80:81', undefined],
    ['a:0', undefined],
    ['a:99999', undefined],
    ['a', undefined],
    ['[::1%eth0]:80', undefined],
    ['', undefined],
  ])('reads %s', (text, target) => {
    expect(parseAuthority(text)).toEqual(target);
  });

  it('reads whole URLs of HTTP only', () => {
    expect(parseAbsolute('http://a.example:81/x?y#z')).toEqual({
      target: { host: 'a.example', port: 81 },
      path: '/x?y',
    });
    for (const url of ['https://a/', '/x', 'http://u:p@a/', 'ftp://a/', 'http://', 'http:///x@']) {
      const parsed = parseAbsolute(url);
      expect(parsed === undefined || parsed.target.host === 'x@').toBe(true);
    }
  });

  it('wants one Host header that agrees', () => {
    const target = { host: 'a.example', port: 80 };
    expect(hostHeaderAgrees(['A.example'], target)).toBe(true);
    expect(hostHeaderAgrees(['a.example:80'], target)).toBe(true);
    for (const values of [
      [],
      ['b'],
      ['a.example:81'],
      ['a.example', 'a.example'],
      ['a.example b'],
    ]) {
      expect(hostHeaderAgrees(values, target)).toBe(false);
    }
  });
});

describe('decisions', () => {
  it('asks nobody about addresses and inner names that settings do not name', async () => {
    const asked: string[] = [];
    const allows = async (host: string): Promise<boolean> => {
      asked.push(host);
      return true;
    };
    for (const host of [
      '127.0.0.1',
      '8.8.8.8',
      '::1',
      'localhost',
      'x.local',
      'metadata.google.internal',
    ]) {
      expect((await judgeTarget({ host, port: 80 }, { allows })).ok).toBe(false);
    }
    expect(asked).toEqual([]);
    expect((await judgeTarget({ host: 'a.example', port: 80 }, { allows })).ok).toBe(true);
    const named = { allows, named: () => true };
    expect((await judgeTarget({ host: '10.0.0.1', port: 80 }, named)).ok).toBe(true);
    expect(
      (await judgeTarget({ host: '10.0.0.1', port: 80 }, { ...named, allows: async () => false }))
        .ok,
    ).toBe(false);
  });

  it('dials nothing but public addresses for a host that is not named', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1 }), (addresses) => {
        const judged = judgeAddresses({ host: 'a.example', port: 80 }, addresses, false);
        expect(judged.ok).toBe(addresses.every((one) => classifyAddress(one) === 'public'));
      }),
    );
  });

  it('reads every spelling of an address as that address', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => {
        const plain = [24, 16, 8, 0].map((bits) => (value >>> bits) & 255).join('.');
        for (const text of [String(value), `0x${value.toString(16)}`, plain]) {
          expect(targetOf(text, 80)?.host).toBe(plain);
        }
      }),
    );
  });
});
