/** The call's numbers on x64 and arm64; undefined where it does not exist. */
type Numbers = readonly [x64: number, arm64: number | undefined];

/** Calls refused only for certain arguments: sockets, terminals, setuid files. */
const BY_ARGUMENT = {
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  mknod: [133, undefined],
  mknodat: [259, 33],
} satisfies Readonly<Record<string, Numbers>>;

const NAMESPACE_CALLS = {
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
} satisfies Readonly<Record<string, Numbers>>;

/** Calls that builds, tests and editors do not need and that have been used for sandbox escapes. */
const ADMINISTRATION_CALLS = {
  // io_uring performs other calls, sockets included, without the filter.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Keyrings are not confined by namespaces.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  syslog: [103, 116],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  open_by_handle_at: [304, 265],
} satisfies Readonly<Record<string, Numbers>>;

const CALLS: Readonly<Record<CallName, Numbers>> = {
  ...BY_ARGUMENT,
  ...NAMESPACE_CALLS,
  ...ADMINISTRATION_CALLS,
};

export type CallName =
  | keyof typeof BY_ARGUMENT
  | keyof typeof NAMESPACE_CALLS
  | keyof typeof ADMINISTRATION_CALLS;

const namesOf = <T extends object>(calls: T) => Object.keys(calls) as (keyof T)[];
export const NAMESPACES = namesOf(NAMESPACE_CALLS);
export const ADMINISTRATION = namesOf(ADMINISTRATION_CALLS);

export interface CallTable {
  /** The kernel's `AUDIT_ARCH_*`. */
  readonly audit: number;
  /** Call numbers from here on belong to another ABI, which the table does not cover. */
  readonly foreignFrom?: number;
  readonly calls: Readonly<Record<CallName, number | undefined>>;
}

/** Undefined for an architecture (in Node's naming) with unknown numbers. */
export function callTable(arch: string): CallTable | undefined {
  const column = ['x64', 'arm64'].indexOf(arch);
  if (column === -1) return undefined;
  const entries = Object.entries(CALLS).map(([name, numbers]) => [name, numbers[column]]);
  const calls = Object.fromEntries(entries) as CallTable['calls'];
  // 0x40000000 starts the x32 ABI.
  return arch === 'x64'
    ? { audit: 0xc000003e, foreignFrom: 0x40000000, calls }
    : { audit: 0xc00000b7, calls };
}
