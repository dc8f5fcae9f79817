import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seccompFilter } from './seccomp.js';
import { callTable } from './syscalls.js';

const ALLOW = 'allow';
const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const I386 = 0x40000003;

/** An interpreter for the instructions that the filter uses. */
function judge(filter: Uint8Array, audit: number, number: number, args: readonly number[]): string {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const word = (offset: number): number => {
    if (offset === 0) return number >>> 0;
    if (offset === 4) return audit >>> 0;
    return (args[(offset - 16) / 8] ?? 0) >>> 0;
  };
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = view.getUint16(at * 8, true);
    const jt = view.getUint8(at * 8 + 2);
    const jf = view.getUint8(at * 8 + 3);
    const k = view.getUint32(at * 8 + 4, true);
    if (code === 0x06) {
      if (k === 0x7fff0000) return ALLOW;
      return k === 0x80000000 ? 'kill' : `errno ${k & 0xffff}`;
    }
    if (code === 0x20) accumulator = word(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('fell off the end');
}

const strict = { unixSockets: false, nestedUserNamespaces: false };

describe.each([
  ['x64', X64],
  ['arm64', ARM64],
] as const)('the filter for %s', (arch, audit) => {
  const filter = seccompFilter(arch, strict) ?? new Uint8Array();
  const calls = callTable(arch)?.calls;
  const call = (name: keyof NonNullable<typeof calls>, ...args: number[]): string =>
    judge(filter, audit, calls?.[name] ?? -1, args);

  it('opens sockets of the network and no others', () => {
    expect(call('socket', 2, 1, 0)).toBe(ALLOW);
    expect(call('socket', 10, 2, 0)).toBe(ALLOW);
    expect(call('socket', 16, 3, 0)).toBe(ALLOW);
    for (const family of [0, 1, 3, 15, 17, 29, 31, 38, 40, 44]) {
      expect(call('socket', family, 1, 0)).toBe('errno 1');
    }
    expect(call('socket', 16, 3, 9)).toBe('errno 1');
  });

  it('makes pairs that stay pairs', () => {
    const CLOEXEC = 0o2000000;
    expect(call('socketpair', 1, 1 | CLOEXEC, 0)).toBe(ALLOW);
    expect(call('socketpair', 1, 5, 0)).toBe(ALLOW);
    for (const type of [2, 3, 2 | CLOEXEC]) expect(call('socketpair', 1, type, 0)).toBe('errno 1');
    expect(call('socketpair', 2, 1, 0)).toBe('errno 1');
  });

  it('makes no user namespaces, but threads and processes', () => {
    const THREAD = 0x3d0f00;
    expect(call('clone', THREAD)).toBe(ALLOW);
    expect(call('clone', 17)).toBe(ALLOW);
    expect(call('clone', 17 | 0x10000000)).toBe('errno 1');
    expect(call('unshare', 0x10000000)).toBe('errno 1');
    expect(call('unshare', 0x400)).toBe(ALLOW);
    expect(call('clone3')).toBe('errno 38');
  });

  it('makes no file that runs as its owner', () => {
    expect(call('openat', 0, 0, 0o101, 0o644)).toBe(ALLOW);
    expect(call('openat', 0, 0, 0o101, 0o4755)).toBe('errno 1');
    // The mode argument counts only with O_CREAT.
    expect(call('openat', 0, 0, 0, 0o4755)).toBe(ALLOW);
    expect(call('fchmod', 3, 0o755)).toBe(ALLOW);
    expect(call('fchmod', 3, 0o4755)).toBe('errno 1');
    expect(call('fchmodat', 0, 0, 0o6755)).toBe('errno 1');
    expect(call('fchmodat', 0, 0, 0o2755)).toBe(ALLOW);
  });

  it('types into no terminal', () => {
    expect(call('ioctl', 0, 0x5413)).toBe(ALLOW);
    expect(call('ioctl', 0, 0x5412)).toBe('errno 1');
    expect(call('ioctl', 0, 0x541c)).toBe('errno 1');
  });

  it('runs no program of another architecture', () => {
    expect(judge(filter, I386, 102, [])).toBe('kill');
    expect(judge(filter, arch === 'x64' ? ARM64 : X64, 41, [])).toBe('kill');
    if (arch === 'x64') expect(judge(filter, X64, 0x40000000 | 41, [1])).toBe('errno 38');
  });

  it('ends for every call', () => {
    const word = fc.integer({ min: 0, max: 0xffffffff });
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 6, maxLength: 6 }), (number, args) => {
        judge(filter, audit, number % 600, args);
      }),
    );
    for (let number = 0; number < 600; number++) judge(filter, audit, number, [1, 1, 1, 1, 1, 1]);
  });

  it('leaves ordinary calls alone', () => {
    const named = new Set(Object.values(calls ?? {}));
    for (let number = 0; number < 600; number++) {
      if (!named.has(number)) expect(judge(filter, audit, number, [1, 2, 3])).toBe(ALLOW);
    }
  });
});

describe('the weaker filters', () => {
  it('opens what was asked for, and nothing else', () => {
    const sockets = seccompFilter('x64', { unixSockets: true, nestedUserNamespaces: false });
    const nested = seccompFilter('x64', { unixSockets: false, nestedUserNamespaces: true });
    const ask = (filter: Uint8Array | undefined, number: number, ...args: number[]): string =>
      judge(filter ?? new Uint8Array(), X64, number, args);
    expect(ask(sockets, 41, 1, 1)).toBe(ALLOW);
    expect(ask(sockets, 41, 40, 1)).toBe('errno 1');
    expect(ask(sockets, 272, 0x10000000)).toBe('errno 1');
    expect(ask(nested, 272, 0x10000000)).toBe(ALLOW);
    expect(ask(nested, 41, 1, 1)).toBe('errno 1');
    expect(ask(nested, 425)).toBe('errno 1');
  });

  it('knows no other architecture', () => {
    expect(seccompFilter('riscv64', strict)).toBeUndefined();
    expect(seccompFilter('toString', strict)).toBeUndefined();
  });
});
