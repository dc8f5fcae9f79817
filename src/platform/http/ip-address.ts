import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** What kind of network an IP address belongs to. Everything but `public` is refused by default. */
export type AddressClass = 'public' | keyof typeof CLASS_WORDS;

/**
 * Judges an IP address as a resolver or the WHATWG URL parser writes it (brackets and a zone id are
 * accepted). IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are
 * judged by the address inside.
 */
export function classifyAddress(ip: string): AddressClass {
  const bare = ip.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(bare)) return rangeOf(bare) ?? 'public';
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

/** Names of this machine, its network or a cloud's metadata service; what they resolve to does not matter. */
export function isInternalName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  return INTERNAL_NAMES.has(name) || INTERNAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

const CLASS_WORDS = {
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
} as const;

const INTERNAL_NAMES = new Set(
  `localhost localhost.localdomain ip6-localhost ip6-loopback broadcasthost metadata instance-data
   host.docker.internal metadata.google.internal metadata.azure.com metadata.tencentyun.com`.split(
    /\s+/,
  ),
);

const INTERNAL_SUFFIXES =
  '.localhost .localdomain .local .internal .intranet .lan .corp .home.arpa'.split(' ');

/** The first class that holds an address counts: the broadcast address is also in a reserved range. */
const RANGES = (
  [
    ['unspecified', '0.0.0.0/8 ::/128'],
    ['loopback', '127.0.0.0/8 ::1/128'],
    // 64:ff9b:1::/48 translates inside one network: where it leads is that network's business.
    ['private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 64:ff9b:1::/48 fc00::/7 fec0::/10'],
    ['shared', '100.64.0.0/10'],
    ['metadata', '168.63.129.16/32'],
    ['link-local', '169.254.0.0/16 fe80::/10'],
    ['multicast', '224.0.0.0/4 ff00::/8'],
    ['broadcast', '255.255.255.255/32'],
    ['documentation', '192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20'],
    ['reserved', '192.0.0.0/24 192.88.99.0/24 198.18.0.0/15 240.0.0.0/4 100::/64 5f00::/16'],
  ] as const
).map(([kind, subnets]) => ({ kind, list: blockList(subnets) }));

/** Prefixes with an IPv4 address inside. Teredo holds two, its client's inverted. */
const CARRIERS: readonly {
  readonly list: BlockList;
  inner(groups: readonly number[]): readonly string[];
}[] = [
  {
    list: blockList('::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96'),
    inner: (groups) => [dotted(groups[6], groups[7])],
  },
  { list: blockList('2002::/16'), inner: (groups) => [dotted(groups[1], groups[2])] },
  {
    list: blockList('2001::/32'),
    inner: ([, , server1, server2, , , client1 = 0, client2 = 0]) => [
      dotted(server1, server2),
      dotted(client1 ^ 0xffff, client2 ^ 0xffff),
    ],
  },
];
/** The rest of this range is set aside for protocols. */
const PROTOCOLS = blockList('2001::/23');
/** Nothing public is assigned outside. */
const GLOBAL_UNICAST = blockList('2000::/3');

function classifyIpv6(ip: string): AddressClass {
  const kind = rangeOf(ip);
  if (kind !== undefined) return kind;
  const carrier = CARRIERS.find(({ list }) => list.check(ip, 'ipv6'));
  if (carrier !== undefined) {
    const kinds = carrier.inner(groupsOf(ip)).map(rangeOf);
    return kinds.find((inner) => inner !== undefined) ?? 'public';
  }
  if (PROTOCOLS.check(ip, 'ipv6')) return 'reserved';
  return GLOBAL_UNICAST.check(ip, 'ipv6') ? 'public' : 'reserved';
}

function rangeOf(ip: string): AddressClass | undefined {
  return RANGES.find(({ list }) => list.check(ip, familyOf(ip)))?.kind;
}

function blockList(subnets: string): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.split(' ')) {
    const [base = '', bits] = subnet.split('/');
    list.addSubnet(base, Number(bits), familyOf(base));
  }
  return list;
}

function familyOf(ip: string): 'ipv4' | 'ipv6' {
  return ip.includes(':') ? 'ipv6' : 'ipv4';
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

/** Resolves a name to all its addresses. Rejects where it has none. */
export async function lookupAddresses(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(hostname, { all: true })).map((found) => found.address);
}

/** The same; empty where the name cannot be resolved. */
export function resolveName(hostname: string): Promise<readonly string[]> {
  return lookupAddresses(hostname).catch(() => []);
}
