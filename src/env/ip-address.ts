import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** What kind of network an IP address belongs to. Everything but `public` is refused by default. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared'
  | 'metadata'
  | 'multicast'
  | 'broadcast'
  | 'documentation'
  | 'unspecified'
  | 'reserved'
  | 'invalid';

/**
 * Judges an IP address as a resolver or the WHATWG URL parser writes it (brackets and a zone id are
 * accepted). IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are
 * judged by the address inside.
 */
export function classifyAddress(ip: string): AddressClass {
  const bare = ip.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(bare)) return rangeOf(bare, 'ipv4') ?? 'public';
  // fail-closed: what cannot be read as an address is not a public one.
  return isIPv6(bare) ? classifyIpv6(bare) : 'invalid';
}

/** True when the text is an IP address and not a name. */
export function isIpAddress(text: string): boolean {
  return classifyAddress(text) !== 'invalid';
}

/** Why this address of a host is not to be contacted; undefined when it may be. */
export function blockedAddressReason(
  host: string,
  address: string,
  allow: { readonly loopback: boolean },
): string | undefined {
  const kind = classifyAddress(address);
  if (kind === 'public' || (kind === 'loopback' && allow.loopback)) return undefined;
  const where = CLASS_WORDS[kind];
  return host === address
    ? `${host} belongs to ${where}`
    : `"${host}" resolves to ${address}, which belongs to ${where}`;
}

/** Names that stand for this machine, its network or a cloud's metadata service, whatever they resolve to. */
export function isInternalName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  return INTERNAL_NAMES.has(name) || INTERNAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

const CLASS_WORDS: Readonly<Record<Exclude<AddressClass, 'public'>, string>> = {
  loopback: 'this machine (loopback)',
  private: 'a private network',
  'link-local': 'the local link, where cloud metadata lives',
  shared: "a provider's inner network (100.64.0.0/10)",
  metadata: "a cloud's metadata service",
  multicast: 'a multicast group',
  broadcast: 'the broadcast address',
  documentation: 'a range reserved for documentation',
  unspecified: 'no particular host (0.0.0.0/8 or ::)',
  reserved: 'a reserved range',
  invalid: 'no readable address',
};

const INTERNAL_NAMES = new Set([
  'localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'ip6-loopback',
  'broadcasthost',
  'metadata',
  'instance-data',
  'host.docker.internal',
  'metadata.google.internal',
  'metadata.azure.com',
  'metadata.tencentyun.com',
]);

const INTERNAL_SUFFIXES = [
  '.localhost',
  '.localdomain',
  '.local',
  '.internal',
  '.intranet',
  '.lan',
  '.corp',
  '.home.arpa',
];

interface Range {
  readonly range: BlockList;
  readonly kind: AddressClass;
}

const IPV4_RANGES: readonly Range[] = (
  [
    ['0.0.0.0', 8, 'unspecified'],
    ['10.0.0.0', 8, 'private'],
    ['100.64.0.0', 10, 'shared'],
    ['127.0.0.0', 8, 'loopback'],
    ['168.63.129.16', 32, 'metadata'],
    ['169.254.0.0', 16, 'link-local'],
    ['172.16.0.0', 12, 'private'],
    ['192.0.0.0', 24, 'reserved'],
    ['192.0.2.0', 24, 'documentation'],
    ['192.88.99.0', 24, 'reserved'],
    ['192.168.0.0', 16, 'private'],
    ['198.18.0.0', 15, 'reserved'],
    ['198.51.100.0', 24, 'documentation'],
    ['203.0.113.0', 24, 'documentation'],
    ['224.0.0.0', 4, 'multicast'],
    ['255.255.255.255', 32, 'broadcast'],
    ['240.0.0.0', 4, 'reserved'],
  ] as const
).map(([base, bits, kind]) => ({ range: subnet(base, bits, 'ipv4'), kind }));

const IPV6_RANGES: readonly Range[] = (
  [
    ['::', 128, 'unspecified'],
    ['::1', 128, 'loopback'],
    // Translation prefix for use inside one network: where it leads is that network's business.
    ['64:ff9b:1::', 48, 'private'],
    ['100::', 64, 'reserved'],
    ['2001:db8::', 32, 'documentation'],
    ['3fff::', 20, 'documentation'],
    ['5f00::', 16, 'reserved'],
    ['fc00::', 7, 'private'],
    ['fe80::', 10, 'link-local'],
    ['fec0::', 10, 'private'],
    ['ff00::', 8, 'multicast'],
  ] as const
).map(([base, bits, kind]) => ({ range: subnet(base, bits, 'ipv6'), kind }));

/** Prefixes with an IPv4 address inside, and the position of its first group. Teredo inverts the client's. */
const CARRIERS: readonly {
  readonly range: BlockList;
  readonly inner: (groups: readonly number[]) => readonly string[];
}[] = [
  ...['::', '::ffff:0:0', '::ffff:0:0:0', '64:ff9b::'].map((base) => ({
    range: subnet(base, 96, 'ipv6'),
    inner: (groups: readonly number[]) => [dotted(groups[6], groups[7])],
  })),
  {
    range: subnet('2002::', 16, 'ipv6'),
    inner: (groups) => [dotted(groups[1], groups[2])],
  },
  {
    range: subnet('2001::', 32, 'ipv6'),
    inner: ([, , server1, server2, , , client1 = 0, client2 = 0]) => [
      dotted(server1, server2),
      dotted(client1 ^ 0xffff, client2 ^ 0xffff),
    ],
  },
];
/** The rest of this range is set aside for protocols. */
const PROTOCOLS = subnet('2001::', 23, 'ipv6');
/** Nothing public is assigned outside. */
const GLOBAL_UNICAST = subnet('2000::', 3, 'ipv6');

function classifyIpv6(ip: string): AddressClass {
  const kind = rangeOf(ip, 'ipv6');
  if (kind !== undefined) return kind;
  const carrier = CARRIERS.find(({ range }) => range.check(ip, 'ipv6'));
  if (carrier !== undefined) {
    const kinds = carrier.inner(groupsOf(ip)).map((inner) => rangeOf(inner, 'ipv4'));
    return kinds.find((inner) => inner !== undefined) ?? 'public';
  }
  if (PROTOCOLS.check(ip, 'ipv6')) return 'reserved';
  return GLOBAL_UNICAST.check(ip, 'ipv6') ? 'public' : 'reserved';
}

/** The first range that holds the address. */
function rangeOf(ip: string, family: 'ipv4' | 'ipv6'): AddressClass | undefined {
  const ranges = family === 'ipv4' ? IPV4_RANGES : IPV6_RANGES;
  return ranges.find(({ range }) => range.check(ip, family))?.kind;
}

function subnet(base: string, bits: number, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  list.addSubnet(base, bits, family);
  return list;
}

/** The eight numbers of a valid IPv6 address. The URL parser turns a dotted end into two of them. */
function groupsOf(ip: string): readonly number[] {
  const [head = '', tail] = new URL(`http://[${ip}]/`).hostname.slice(1, -1).split('::');
  const parse = (text = ''): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [parse(head), parse(tail)];
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
