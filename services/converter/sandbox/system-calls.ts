/** Numbers of system calls on one kind of processor, and how the kernel names it. */
interface Machine {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly refused: readonly number[];
}

/**
 * What no converter needs and what most holes of kernels were reached by: namespaces of one's own (unshare, setns,
 * pivot_root, chroot), mounts, debugging and reading of other processes, loading of kernels, modules and programs (bpf),
 * keyrings, io_uring, userfaultfd, perf, files by handle, and memory that belongs to no process, so that no limit counts
 * it (memfd, shared segments). In this order in both tables.
 */
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, Machine>>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    clone3: 435,
    socket: 41,
    refused: [272, 308, 155, 161, 165, 166, 428, 429, 430, 431, 432, 433, 442, 101, 310, 311, 438, 246, 320, 175, 313, 321, 248, 249, 250, 425, 426, 427, 323, 298, 303, 304, 319, 447, 29],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    refused: [97, 268, 41, 51, 40, 39, 428, 429, 430, 431, 432, 433, 442, 117, 270, 271, 438, 104, 294, 105, 273, 280, 217, 218, 219, 425, 426, 427, 282, 241, 264, 265, 279, 447, 194],
  },
};

/** From here on x86 counts the calls of another interface, in which the same calls have other numbers. */
const OTHER_INTERFACE = 0x40000000;

/** Bits of clone that make new namespaces. */
const NEW_NAMESPACES = 0x7e020000;

/**
 * Kinds of sockets that programs use among themselves: local ones, IP, and the one by which a C library lists its
 * interfaces. Others, such as vsock, are not held back by a namespace.
 */
const SOCKET_FAMILIES = [1, 2, 10, 16] as const;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Instructions of the kernel's filter language: load a word, jump when equal, at least, or a bit is set, and return. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const fail = (errno: number): Instruction => [RETURN, 0, 0, 0x00050000 | errno];

/** Where the kernel puts the number, the machine and the first argument. */
const NUMBER_AT = 0;
const MACHINE_AT = 4;
const FIRST_ARGUMENT_AT = 16;

/** Code, how many instructions to skip when true and when false, operand. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

/**
 * A filter that bubblewrap loads before a converter starts; undefined for processors whose numbers are not known here.
 * Programs get an error for what is refused, and go on without.
 */
export function systemCallFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const machine = MACHINES[architecture];
  if (machine === undefined) return undefined;
  const filter: Instruction[] = [
    [LOAD, 0, 0, MACHINE_AT],
    [IF_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    [IF_AT_LEAST, 0, 1, OTHER_INTERFACE],
    fail(ENOSYS),
    ...machine.refused.flatMap((number): Instruction[] => [[IF_EQUAL, 0, 1, number], fail(EPERM)]),
    // Its flags lie in memory, where no filter can read; C libraries then take the older call.
    [IF_EQUAL, 0, 1, machine.clone3],
    fail(ENOSYS),
    [IF_EQUAL, 0, 4, machine.clone],
    [LOAD, 0, 0, FIRST_ARGUMENT_AT],
    [IF_ANY_BIT, 0, 1, NEW_NAMESPACES],
    fail(EPERM),
    [RETURN, 0, 0, ALLOW],
    [IF_EQUAL, 0, SOCKET_FAMILIES.length + 2, machine.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT_AT],
    ...SOCKET_FAMILIES.map((family, index): Instruction => [IF_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
    fail(EAFNOSUPPORT),
    [RETURN, 0, 0, ALLOW],
  ];
  return Buffer.concat(filter.map(encode));
}

function encode([code, whenTrue, whenFalse, operand]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}
