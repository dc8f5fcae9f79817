/** Numbers of the system calls that the filter knows: on x64, then on arm64 where it has them. */
type Numbers = readonly [x64: number, arm64: number | undefined];

/** Calls that are refused with some of their arguments: sockets, terminals, files that run as their owner. */
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

/** What no build, test or editor needs, and what has been the way out of many a fence. */
const ADMINISTRATION_CALLS = {
  // Makes every other call, sockets among them, without the filter seeing it.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // The keys of the person's session are in no namespace.
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
  /** `AUDIT_ARCH_*` of the kernel. */
  readonly audit: number;
  /** Numbers from here on belong to another way of calling the same kernel, which the table does not cover. */
  readonly foreignFrom?: number;
  readonly calls: Readonly<Record<CallName, number | undefined>>;
}

/** By Node's name of the architecture; undefined for one whose numbers we do not know. */
export function callTable(arch: string): CallTable | undefined {
  const column = ['x64', 'arm64'].indexOf(arch);
  if (column === -1) return undefined;
  const entries = Object.entries(CALLS).map(([name, numbers]) => [name, numbers[column]]);
  const calls = Object.fromEntries(entries) as CallTable['calls'];
  // From 0x40000000 on: the x32 interface of the same kernel.
  return arch === 'x64'
    ? { audit: 0xc000003e, foreignFrom: 0x40000000, calls }
    : { audit: 0xc00000b7, calls };
}
