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
  const four = parseIpv4(bare);
  if (four !== undefined) return classifyIpv4(four);
  const six = parseIpv6(bare);
  // fail-closed: what cannot be read as an address is not a public one.
  return six === undefined ? 'invalid' : classifyIpv6(six);
}

/** True when the text is an IP address and not a name. */
export function isIpAddress(text: string): boolean {
  return classifyAddress(text) !== 'invalid';
}

/** Why this address of a host is not to be contacted; undefined when it may be. */
export function refusalOf(
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

type Range = readonly [base: string, bits: number, kind: AddressClass];

const IPV4_RANGES: readonly Range[] = [
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
];

const IPV6_RANGES: readonly Range[] = [
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
];

/** Prefixes with an IPv4 address inside, and where it stands. Teredo hides the client's by inversion. */
const CARRIERS: readonly {
  readonly base: string;
  readonly bits: number;
  readonly inner: (bytes: readonly number[]) => readonly (readonly number[])[];
}[] = [
  { base: '::', bits: 96, inner: lastFour },
  { base: '::ffff:0:0', bits: 96, inner: lastFour },
  { base: '::ffff:0:0:0', bits: 96, inner: lastFour },
  { base: '64:ff9b::', bits: 96, inner: lastFour },
  { base: '2002::', bits: 16, inner: (bytes) => [bytes.slice(2, 6)] },
  {
    base: '2001::',
    bits: 32,
    inner: (bytes) => [bytes.slice(4, 8), bytes.slice(12, 16).map((byte) => byte ^ 0xff)],
  },
];

function lastFour(bytes: readonly number[]): readonly (readonly number[])[] {
  return [bytes.slice(12, 16)];
}

function classifyIpv4(bytes: readonly number[]): AddressClass {
  for (const [base, bits, kind] of IPV4_RANGES) {
    if (startsWith(bytes, parseIpv4(base), bits)) return kind;
  }
  return 'public';
}

function classifyIpv6(bytes: readonly number[]): AddressClass {
  for (const [base, bits, kind] of IPV6_RANGES) {
    if (startsWith(bytes, parseIpv6(base), bits)) return kind;
  }
  for (const carrier of CARRIERS) {
    if (!startsWith(bytes, parseIpv6(carrier.base), carrier.bits)) continue;
    return (
      carrier
        .inner(bytes)
        .map(classifyIpv4)
        .find((kind) => kind !== 'public') ?? 'public'
    );
  }
  // The rest of 2001::/23 is set aside for protocols; outside 2000::/3 nothing public is assigned.
  if (startsWith(bytes, parseIpv6('2001::'), 23)) return 'reserved';
  return startsWith(bytes, parseIpv6('2000::'), 3) ? 'public' : 'reserved';
}

function startsWith(
  bytes: readonly number[],
  base: readonly number[] | undefined,
  bits: number,
): boolean {
  if (base === undefined) return false;
  for (let index = 0, left = bits; left > 0; index++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((bytes[index] ?? 0) & mask) !== ((base[index] ?? 0) & mask)) return false;
  }
  return true;
}

/** Canonical dotted decimal only; other spellings are turned into it by the URL parser. */
function parseIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = parts.map((part) => (/^(0|[1-9]\d{0,2})$/.test(part) ? Number(part) : 256));
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return undefined;
  // The dotted form may stand at the very end only.
  if (halves.length === 2 && halves[0]?.includes('.')) return undefined;
  const head = groupsOf(halves[0] ?? '');
  const tail = groupsOf(halves[1] ?? '');
  if (head === undefined || tail === undefined) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  const gap = 16 - head.length - tail.length;
  return gap < 2 ? undefined : [...head, ...new Array<number>(gap).fill(0), ...tail];
}

function groupsOf(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (index === groups.length - 1 && group.includes('.')) {
      const four = parseIpv4(group);
      if (four === undefined) return undefined;
      bytes.push(...four);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}
