/** Numbers of the system calls that the filter knows, by Node's name of the architecture. */
export interface CallTable {
  /** `AUDIT_ARCH_*` of the kernel. */
  readonly audit: number;
  /** Numbers from here on belong to another way of calling the same kernel, which the table does not cover. */
  readonly foreignFrom?: number;
  readonly calls: Readonly<Record<CallName, number | undefined>>;
}

export type CallName =
  | (typeof SOCKETS)[number]
  | (typeof NAMESPACES)[number]
  | (typeof ADMINISTRATION)[number]
  | (typeof MODES)[number]
  | 'ioctl';

export const SOCKETS = ['socket', 'socketpair'] as const;

export const NAMESPACES = [
  'clone',
  'clone3',
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'open_tree_attr',
] as const;

/** What no build, test or editor needs, and what has been the way out of many a fence. */
export const ADMINISTRATION = [
  // Makes every other call, sockets among them, without the filter seeing it.
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  // The keys of the person's session are in no namespace.
  'add_key',
  'request_key',
  'keyctl',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'reboot',
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'syslog',
  'iopl',
  'ioperm',
  'open_by_handle_at',
] as const;

/** Calls that can give a file the right to run as its owner. */
export const MODES = [
  'chmod',
  'fchmod',
  'fchmodat',
  'fchmodat2',
  'open',
  'creat',
  'openat',
  'openat2',
  'mknod',
  'mknodat',
] as const;

/** The same everywhere: added after the tables were made one. */
const COMMON = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  openat2: 437,
  mount_setattr: 442,
  fchmodat2: 452,
  open_tree_attr: 467,
} as const;

const X64: CallTable = {
  audit: 0xc000003e,
  // The x32 interface of the same kernel.
  foreignFrom: 0x40000000,
  calls: {
    ...COMMON,
    open: 2,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    clone: 56,
    creat: 85,
    chmod: 90,
    fchmod: 91,
    syslog: 103,
    mknod: 133,
    pivot_root: 155,
    chroot: 161,
    acct: 163,
    mount: 165,
    umount2: 166,
    swapon: 167,
    swapoff: 168,
    reboot: 169,
    iopl: 172,
    ioperm: 173,
    init_module: 175,
    delete_module: 176,
    quotactl: 179,
    kexec_load: 246,
    add_key: 248,
    request_key: 249,
    keyctl: 250,
    openat: 257,
    mknodat: 259,
    fchmodat: 268,
    unshare: 272,
    perf_event_open: 298,
    open_by_handle_at: 304,
    setns: 308,
    finit_module: 313,
    kexec_file_load: 320,
    bpf: 321,
    userfaultfd: 323,
  },
};

const ARM64: CallTable = {
  audit: 0xc00000b7,
  calls: {
    ...COMMON,
    open: undefined,
    creat: undefined,
    chmod: undefined,
    mknod: undefined,
    iopl: undefined,
    ioperm: undefined,
    ioctl: 29,
    mknodat: 33,
    umount2: 39,
    mount: 40,
    pivot_root: 41,
    chroot: 51,
    fchmod: 52,
    fchmodat: 53,
    openat: 56,
    quotactl: 60,
    acct: 89,
    unshare: 97,
    kexec_load: 104,
    init_module: 105,
    delete_module: 106,
    syslog: 116,
    reboot: 142,
    socket: 198,
    socketpair: 199,
    add_key: 217,
    request_key: 218,
    keyctl: 219,
    clone: 220,
    swapon: 224,
    swapoff: 225,
    perf_event_open: 241,
    open_by_handle_at: 265,
    setns: 268,
    finit_module: 273,
    bpf: 280,
    userfaultfd: 282,
    kexec_file_load: 294,
  },
};

/** Undefined for an architecture whose numbers we do not know. */
export function callTable(arch: string): CallTable | undefined {
  if (arch === 'x64') return X64;
  return arch === 'arm64' ? ARM64 : undefined;
}
