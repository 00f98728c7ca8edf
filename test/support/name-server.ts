import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Answer to one question: addresses of the asked kind and aliases (names), no such name, a failure, or no answer at all. */
export type NameAnswer = readonly string[] | 'no_such_name' | 'failure' | 'silence';

/** Decides an answer; called for each question. */
export type NameRule = (type: 'A' | 'AAAA') => NameAnswer;

/** A DNS server of a test. */
export interface NameServer {
  /** `host:port`, as `OUTBOUND_DNS_SERVERS` takes it. */
  readonly address: string;
  /** What a name means; a list of addresses of both kinds, or a rule. Names without one do not exist. */
  set(name: string, rule: readonly string[] | NameRule): void;
  stop(): Promise<void>;
}

const HEADER_BYTES = 12;
const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/** Starts a DNS server on UDP and loopback. */
export async function startNameServer(): Promise<NameServer> {
  const rules = new Map<string, NameRule>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const answer = type === undefined ? [] : (rules.get(name)?.(type) ?? 'no_such_name');
    if (answer !== 'silence') socket.send(compose(query.subarray(0, end), type, answer), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set(name, rule) {
      rules.set(name, typeof rule === 'function' ? rule : (type) => rule.filter((address) => isIP(address) === (type === 'A' ? 4 : 6)));
    },
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(query: Buffer): { readonly name: string; readonly type: 'A' | 'AAAA' | undefined; readonly end: number } {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[query.readUInt16BE(offset + 1)], end: offset + 5 };
}

/** A chain of aliases, each leading to the next, and at its end the addresses. */
function compose(question: Buffer, type: 'A' | 'AAAA' | undefined, answer: Exclude<NameAnswer, 'silence'>): Buffer {
  const code = answer === 'no_such_name' ? 3 : answer === 'failure' ? 2 : 0;
  const list = typeof answer === 'string' ? [] : answer;
  const aliases = list.filter((part) => isIP(part) === 0);
  const records: Buffer[] = [];
  let owner = Buffer.from([0xc0, HEADER_BYTES]);
  for (const alias of aliases) {
    records.push(record(owner, 5, encodeName(alias)));
    owner = encodeName(alias);
  }
  for (const address of list.filter((part) => isIP(part) !== 0)) records.push(record(owner, type === 'A' ? 1 : 28, encodeAddress(address)));
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...records]);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function encodeName(name: string): Buffer<ArrayBuffer> {
  return Buffer.concat([...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])), Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = new URL(`https://[${address}]/`).hostname.slice(1, -1).split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  const bytes = Buffer.alloc(16);
  for (const [index, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  return bytes;
}
