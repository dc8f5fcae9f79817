import {
  ADMINISTRATION,
  type CallName,
  type CallTable,
  callTable,
  NAMESPACES,
} from './syscalls.js';

interface FilterOptions {
  /** Allows Unix sockets, which reach services of this machine. */
  readonly unixSockets: boolean;
  /** Allows user namespaces and mounts inside them. */
  readonly nestedUserNamespaces: boolean;
}

/**
 * Builds a seccomp filter (classic BPF, little endian) for what namespaces cannot stop, such as Unix sockets,
 * which work across namespaces that share the file. Undefined for an unknown architecture.
 */
export function seccompFilter(arch: string, options: FilterOptions): Uint8Array | undefined {
  const table = callTable(arch);
  if (table === undefined) return undefined;
  return encode([
    ...entry(table),
    ...sockets(table, options),
    ...ADMINISTRATION.flatMap((name) => deny(table, name, EPERM)),
    ...terminal(table),
    ...setUserId(table),
    ...(options.nestedUserNamespaces ? [] : namespaces(table)),
    returning(ALLOW),
  ]);
}

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 1;
const ENOSYS = 38;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const NETLINK_SOCK_DIAG = 4;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf;
const CLONE_NEWUSER = 0x10000000;
const SET_USER_ID = 0o4000;
/** The mode argument exists only with `O_CREAT` or `O_TMPFILE`. */
const MAKES_FILE = 0x40 | 0x400000;
/** `ioctl` requests that inject input into a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** fail-closed: programs of another architecture, which use other call numbers, are killed. */
function entry(table: CallTable): readonly Instruction[] {
  const foreign =
    table.foreignFrom === undefined
      ? []
      : [jump(AT_LEAST, table.foreignFrom, 0, 1), refusing(ENOSYS)];
  return [
    load(ARCH_OFFSET),
    jump(EQUAL, table.audit, 1, 0),
    returning(KILL),
    load(NUMBER_OFFSET),
    ...foreign,
  ];
}

/**
 * Allows only socket families that a network namespace confines. Others reach local services, the host of a
 * virtual machine (vsock) or Bluetooth.
 */
function sockets(table: CallTable, { unixSockets }: FilterOptions): readonly Instruction[] {
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(unixSockets ? [AF_UNIX] : [])];
  const fromNetlink = [
    { arg: 0, equals: AF_NETLINK },
    { arg: 2, noneOf: [NETLINK_ROUTE, NETLINK_SOCK_DIAG] },
  ];
  // A paired datagram socket can still connect elsewhere; a stream cannot.
  const datagramPair = [
    { arg: 0, equals: AF_UNIX },
    { arg: 1, mask: SOCK_TYPE_MASK, noneOf: [SOCK_STREAM, SOCK_SEQPACKET] },
  ];
  return [
    ...deny(table, 'socket', EPERM, [{ arg: 0, noneOf: families }]),
    ...deny(table, 'socket', EPERM, fromNetlink),
    ...deny(table, 'socketpair', EPERM, [{ arg: 0, noneOf: [AF_UNIX] }]),
    ...(unixSockets ? [] : deny(table, 'socketpair', EPERM, datagramPair)),
  ];
}

function terminal(table: CallTable): readonly Instruction[] {
  return [TIOCSTI, TIOCLINUX].flatMap((request) =>
    deny(table, 'ioctl', EPERM, [{ arg: 1, equals: request }]),
  );
}

/** A setuid file would carry the user's rights out of the sandbox. */
function setUserId(table: CallTable): readonly Instruction[] {
  const mode = (arg: number): Condition => ({ arg, anyOf: SET_USER_ID });
  const makes = (arg: number): Condition => ({ arg, anyOf: MAKES_FILE });
  return [
    ...deny(table, 'chmod', EPERM, [mode(1)]),
    ...deny(table, 'fchmod', EPERM, [mode(1)]),
    ...deny(table, 'fchmodat', EPERM, [mode(2)]),
    ...deny(table, 'fchmodat2', EPERM, [mode(2)]),
    ...deny(table, 'creat', EPERM, [mode(1)]),
    ...deny(table, 'mknod', EPERM, [mode(1)]),
    ...deny(table, 'mknodat', EPERM, [mode(2)]),
    ...deny(table, 'open', EPERM, [makes(1), mode(2)]),
    ...deny(table, 'openat', EPERM, [makes(2), mode(3)]),
    // Its mode is in memory, which the filter cannot read; programs fall back to `openat`.
    ...deny(table, 'openat2', ENOSYS),
  ];
}

function namespaces(table: CallTable): readonly Instruction[] {
  const newUser: readonly Condition[] = [{ arg: 0, anyOf: CLONE_NEWUSER }];
  return NAMESPACES.flatMap((name) => {
    if (name === 'clone' || name === 'unshare') return deny(table, name, EPERM, newUser);
    // Its flags are in memory; the C library falls back to `clone`.
    return deny(table, name, name === 'clone3' ? ENOSYS : EPERM);
  });
}

/** Tests the lower half of an argument, which is all these calls use. */
interface Condition {
  readonly arg: number;
  readonly mask?: number;
  readonly equals?: number;
  readonly anyOf?: number;
  readonly noneOf?: readonly number[];
}

/** Fails the call when all conditions hold. The call number is loaded before and after. */
function deny(
  table: CallTable,
  name: CallName,
  errno: number,
  conditions: readonly Condition[] = [],
): readonly Instruction[] {
  const number = table.calls[name];
  if (number === undefined) return [];
  if (conditions.length === 0) return [jump(EQUAL, number, 0, 1), refusing(errno)];
  // Built backwards, because each jump depends on the length of what follows.
  let body: readonly Instruction[] = [refusing(errno)];
  for (const condition of [...conditions].reverse())
    body = [...test(condition, body.length), ...body];
  return [jump(EQUAL, number, 0, body.length), ...body, load(NUMBER_OFFSET)];
}

/** Falls through when the condition holds, else jumps over the following `rest` instructions. */
function test(condition: Condition, rest: number): readonly Instruction[] {
  const start = [load(ARGS_OFFSET + 8 * condition.arg)];
  if (condition.mask !== undefined) start.push({ code: AND, k: condition.mask, jt: 0, jf: 0 });
  if (condition.equals !== undefined) return [...start, jump(EQUAL, condition.equals, 0, rest)];
  if (condition.anyOf !== undefined) return [...start, jump(ANY_BIT, condition.anyOf, 0, rest)];
  const values = condition.noneOf ?? [];
  return [
    ...start,
    ...values.map((value, at) => jump(EQUAL, value, values.length - 1 - at + rest, 0)),
  ];
}

interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const LOAD_WORD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;
/** Offsets in `struct seccomp_data`. */
const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const ARGS_OFFSET = 16;
const REFUSE = 0x00050000;

function load(offset: number): Instruction {
  return { code: LOAD_WORD, k: offset, jt: 0, jf: 0 };
}

function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return { code, k, jt, jf };
}

function returning(k: number): Instruction {
  return { code: RETURN, k, jt: 0, jf: 0 };
}

function refusing(errno: number): Instruction {
  return returning(REFUSE | errno);
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jt);
    bytes.setUint8(index * 8 + 3, jf);
    bytes.setUint32(index * 8 + 4, k, true);
  }
  return new Uint8Array(bytes.buffer);
}
