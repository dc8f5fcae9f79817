import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyAddress, isInternalName, isIpAddress } from './ip-address.js';

describe('classifyAddress', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['172.15.255.255', 'public'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.168.0.1', 'private'],
    ['192.167.255.255', 'public'],
    ['169.254.169.254', 'link-local'],
    ['168.63.129.16', 'metadata'],
    ['168.63.129.17', 'public'],
    ['100.63.255.255', 'public'],
    ['100.64.0.1', 'shared'],
    ['100.127.255.255', 'shared'],
    ['100.128.0.0', 'public'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.0.8', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
  ] as const)('IPv4 %s is %s', (ip, kind) => {
    expect(classifyAddress(ip)).toBe(kind);
  });

  it.each([
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['[::1]', 'loopback'],
    ['fc00::1', 'private'],
    ['fdff:ffff::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fec0::1', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'documentation'],
    ['3fff:0fff::1', 'documentation'],
    ['100::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['64:ff9b:1::a00:1', 'private'],
    ['2606:4700:4700::1111', 'public'],
    ['2A00:1450:4001:81B::200E', 'public'],
  ] as const)('IPv6 %s is %s', (ip, kind) => {
    expect(classifyAddress(ip)).toBe(kind);
  });

  it.each([
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::FFFF:10.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['::127.0.0.1', 'loopback'],
    ['::a9fe:a9fe', 'link-local'],
    ['::ffff:0:192.168.1.1', 'private'],
    ['64:ff9b::127.0.0.1', 'loopback'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:c0a8:101::1', 'private'],
    ['2002:808:808::1', 'public'],
    // Teredo: server 8.8.8.8, client 10.0.0.1 inverted.
    ['2001:0:808:808:0:0:f5ff:fffe', 'private'],
    // Teredo: server 127.0.0.1, client 8.8.8.8 inverted.
    ['2001:0:7f00:1:0:0:f7f7:f7f7', 'loopback'],
    ['2001:0:808:808:0:0:f7f7:f7f7', 'public'],
  ] as const)('the IPv4 address inside %s makes it %s', (ip, kind) => {
    expect(classifyAddress(ip)).toBe(kind);
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4 ',
    '::1::',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::1',
    '::1.2.3',
    '1.2.3.4::',
    '::1.2.3.4:5',
  ])('%j is no address', (text) => {
    expect(classifyAddress(text)).toBe('invalid');
    expect(isIpAddress(text)).toBe(false);
  });

  it.each([
    ['http://2130706433/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://0x7f.0.0.1/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[0:0::1]/', 'loopback'],
    ['http://example.com@10.1/', 'private'],
    ['http://user:pass@169.254.43518/', 'link-local'],
    ['http://①②⑦.0.0.1/', 'loopback'],
    ['http://127。0。0。1/', 'loopback'],
    ['http:\\\\127.0.0.1\\', 'loopback'],
    ['http://0xA9FEA9FE/', 'link-local'],
  ] as const)('the URL %s names a %s address', (url, kind) => {
    expect(classifyAddress(new URL(url).hostname)).toBe(kind);
  });

  it('gives an IPv4 address and its mapped form the same class', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(classifyAddress(`::ffff:${ip}`)).toBe(classifyAddress(ip));
        expect(classifyAddress(`64:ff9b::${ip}`)).toBe(classifyAddress(ip));
      }),
    );
  });

  it('reads every IPv6 address the same as its canonical spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        expect(classifyAddress(ip)).not.toBe('invalid');
        expect(classifyAddress(new URL(`http://[${ip}]/`).hostname)).toBe(classifyAddress(ip));
      }),
    );
  });

  it('never throws and never calls text public', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (!/^[\s[]*[\da-f:.]+/i.test(text)) expect(classifyAddress(text)).toBe('invalid');
      }),
    );
  });
});

describe('isInternalName', () => {
  it.each([
    'localhost',
    'LOCALHOST.',
    'api.localhost',
    'printer.local',
    'x.internal',
    'metadata.google.internal',
    'metadata',
    'nas.lan',
    'router.home.arpa',
    'wiki.corp',
  ])('%s is internal', (name) => expect(isInternalName(name)).toBe(true));
  it.each(['example.com', 'localhost.example.com', 'internal.example.com', 'mylocalhost'])(
    '%s is not',
    (name) => expect(isInternalName(name)).toBe(false),
  );
});
