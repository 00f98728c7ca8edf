import { loadSettings, type Environment, type Given } from '../../shared/config/load.ts';
import type { Settings } from '../../shared/config/settings.ts';
import { PART_BYTES, PARTS_MAX } from '../../shared/domain/multipart.ts';
import { createAddressRule, type AddressRule } from '../../shared/egress/address-rule.ts';
import { EGRESS_SETTINGS } from '../../shared/egress/open-egress.ts';
import { NATS_SETTINGS } from '../../shared/nats/open.ts';
import { filesUrlOf, OBJECT_SETTINGS, publicUrlOf, s3OptionsOf } from '../../shared/objects/open-store.ts';
import { openMasterKey, type MasterKey } from '../../shared/privacy/master-key.ts';
import type { BudgetLimits } from './limits/key-budgets.ts';

const NAMES = [
  ...NATS_SETTINGS, ...OBJECT_SETTINGS, 'PRICING_URL', 'LOG_LEVEL', 'DATABASE_URL', 'MASTER_KEY',
  'RATE_LIMIT_CREATE_FREE', 'RATE_LIMIT_CREATE_ACTIVE', 'RATE_LIMIT_OTHER', 'IP_FAILURE_LIMIT', 'TRUSTED_PROXIES', 'CONNECTIONS_PER_ADDRESS_MAX', 'NATS_REPLICAS',
  'UPLOAD_URL_TTL_SECONDS', 'UPLOAD_WINDOW_SECONDS', 'RESULT_TTL_SECONDS', 'IDEMPOTENCY_TTL_SECONDS', 'MAX_INPUT_BYTES', 'SINGLE_UPLOAD_MAX_BYTES',
  'PART_URL_TTL_SECONDS', ...EGRESS_SETTINGS,
] as const;

/** Settings of the api as they stand in the environment. */
export type ApiSettings = Settings<(typeof NAMES)[number]> & Given<'NATS_URL' | 'DATABASE_URL' | 'MASTER_KEY'>;

/** What the routes need to know of the settings; durations in ms. */
export type ApiConfig = {
  /** Address under which clients reach the service, without `/v1` and without a slash at its end. */
  readonly publicUrl: string;
  /** The same for the links of files, which may have a host of their own (D92). */
  readonly filesUrl: string;
  readonly pricingUrl: string;
  /** False when clients reach files at an S3 store, by links of its own. */
  readonly servesFiles: boolean;
  readonly uploadUrlTtlMs: number;
  readonly uploadWindowMs: number;
  readonly resultTtlMs: number;
  readonly idempotencyTtlMs: number;
  /** Largest file of one PUT: the limit of single uploads, or of all input where that is lower (§8). */
  readonly uploadBytesMax: number;
  /** Largest file of an upload in parts: the limit of all input, or what so many parts hold where that is lower. */
  readonly inputBytesMax: number;
  readonly partUrlTtlMs: number;
  /** Whether a literal address in a URL may be fetched from (§8). */
  readonly isAllowedAddress: AddressRule;
};

/** Requests a minute that one key has (§8 rate limits 1). */
export function budgetLimitsOf(settings: ApiSettings): BudgetLimits {
  return { createFree: settings.RATE_LIMIT_CREATE_FREE, createActive: settings.RATE_LIMIT_CREATE_ACTIVE, other: settings.RATE_LIMIT_OTHER };
}

/** Reads the settings. Throws `ConfigurationError` with every problem. */
export function readApiSettings(environment: Environment): { readonly settings: ApiSettings; readonly config: ApiConfig; readonly masterKey: MasterKey } {
  const settings = loadSettings(environment, NAMES, ['NATS_URL', 'DATABASE_URL', 'MASTER_KEY']);
  const publicUrl = publicUrlOf(settings);
  const config: ApiConfig = {
    publicUrl,
    filesUrl: filesUrlOf(settings),
    pricingUrl: settings.PRICING_URL ?? `${publicUrl}/v1/operations`,
    servesFiles: s3OptionsOf(settings) === undefined,
    uploadUrlTtlMs: settings.UPLOAD_URL_TTL_SECONDS * 1000,
    uploadWindowMs: settings.UPLOAD_WINDOW_SECONDS * 1000,
    resultTtlMs: settings.RESULT_TTL_SECONDS * 1000,
    idempotencyTtlMs: settings.IDEMPOTENCY_TTL_SECONDS * 1000,
    uploadBytesMax: Math.min(settings.SINGLE_UPLOAD_MAX_BYTES, settings.MAX_INPUT_BYTES),
    inputBytesMax: Math.min(settings.MAX_INPUT_BYTES, PARTS_MAX * PART_BYTES),
    partUrlTtlMs: settings.PART_URL_TTL_SECONDS * 1000,
    isAllowedAddress: createAddressRule(settings.OUTBOUND_ALLOWED_ADDRESSES),
  };
  return { settings, config, masterKey: openMasterKey(settings.MASTER_KEY) };
}
