import { networkInterfaces } from 'node:os';
import { createSecureContext } from 'node:tls';
import { createAddressRule } from '../../shared/egress/address-rule.ts';
import type { EgressOptions } from '../../shared/egress/fetch.ts';
import type { EgressLimits } from '../../shared/egress/limits.ts';
import { createAuthority, type TestAuthority } from './certificates.ts';
import { startNameServer, type NameServer } from './name-server.ts';
import { ORIGIN_ADDRESS, startOrigin, startTrap, type Origin, type Trap } from './origin.ts';

/** Names of the origin that its certificate vouches for. */
export const ORIGIN_NAME = 'files.example.test';
export const OTHER_NAME = 'other.example.test';
export const MOVING_NAME = 'moving.example.test';
/** Requests are let through to it as well, and nothing is there. */
export const EMPTY_ADDRESS = '127.0.0.4';

/** A host to fetch from, its names, an authority, and traps on every other address that an attack would aim at. */
export interface EgressBench {
  readonly authority: TestAuthority;
  readonly names: NameServer;
  readonly origin: Origin;
  /** The same names on another port: another origin (§8 rule 2). */
  readonly otherOrigin: Origin;
  readonly traps: readonly Trap[];
  /** URL of a path of the origin. */
  url(path: string): string;
  options(limits: EgressLimits): EgressOptions;
  /** Connections that reached a trap. */
  hits(): number;
  stop(): Promise<void>;
}

/** Starts all of it on loopback. */
export async function startEgressBench(): Promise<EgressBench> {
  const authority = createAuthority();
  const names = await startNameServer();
  const identity = authority.issue([ORIGIN_NAME, OTHER_NAME, MOVING_NAME, ORIGIN_ADDRESS]);
  const origin = await startOrigin(identity);
  const otherOrigin = await startOrigin(identity);
  for (const name of [ORIGIN_NAME, OTHER_NAME]) names.set(name, [ORIGIN_ADDRESS]);
  const traps = [await startTrapBeside('127.0.0.1', origin.port), await startTrapBeside('127.0.0.3', origin.port)];
  if (Object.values(networkInterfaces()).flat().some((found) => found?.address === '::1')) traps.push(await startTrapBeside('::1', origin.port));
  return {
    authority,
    names,
    origin,
    otherOrigin,
    traps,
    url: (path) => `https://${ORIGIN_NAME}:${origin.port}${path}`,
    options: (limits) => ({ isAllowed: createAddressRule([`${ORIGIN_ADDRESS}/32`, EMPTY_ADDRESS]), secureContext: createSecureContext({ ca: authority.cert }), dnsServers: [names.address], limits }),
    hits: () => traps.reduce((sum, trap) => sum + trap.hits(), 0),
    stop: async () => void (await Promise.all([names, origin, otherOrigin, ...traps].map((part) => part.stop()))),
  };
}

/** On the port of the origin, so that the address alone makes the difference; on another when somebody has that one. */
function startTrapBeside(address: string, port: number): Promise<Trap> {
  return startTrap(address, port).catch(() => startTrap(address));
}
