import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { Settings } from '../config/settings.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { createAddressRule } from './address-rule.ts';
import type { EgressOptions } from './fetch.ts';
import { EGRESS_LIMITS } from './limits.ts';

/** Settings of a process that sends requests to hosts which clients name. */
export const EGRESS_SETTINGS = ['OUTBOUND_ALLOWED_ADDRESSES', 'OUTBOUND_CA_FILE', 'OUTBOUND_DNS_SERVERS'] as const;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The way out of this process, as an operator has set it up; says so in the log when that is another than to public
 * hosts alone. Throws `ConfigurationError` when the file of certificates cannot be used.
 */
export function openEgress(settings: Settings<(typeof EGRESS_SETTINGS)[number]>, logger: Logger): EgressOptions {
  const { OUTBOUND_ALLOWED_ADDRESSES: ranges, OUTBOUND_CA_FILE: file, OUTBOUND_DNS_SERVERS: dnsServers } = settings;
  if (ranges.length > 0) logger.warn({ ranges }, 'OUTBOUND_ALLOWED_ADDRESSES is set: clients reach these addresses through the service');
  if (file !== undefined) logger.warn('OUTBOUND_CA_FILE is set: hosts are believed that no public authority vouches for');
  // Made once: reading all public authorities takes milliseconds.
  const secureContext = createSecureContext({ ca: [...rootCertificates, ...(file === undefined ? [] : readCertificates(file))] });
  return { isAllowed: createAddressRule(ranges), secureContext, dnsServers, limits: EGRESS_LIMITS };
}

function readCertificates(file: string): readonly string[] {
  try {
    const certificates = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
    if (certificates.length > 0) return certificates.map((text) => new X509Certificate(text).toString());
  } catch {
    // Told below, whatever is wrong with it.
  }
  throw new ConfigurationError(['OUTBOUND_CA_FILE: must be a readable file of certificates in PEM']);
}
