import { isIP } from 'node:net';
import { z } from 'zod';
import { LOG_LEVELS } from '../log/log.ts';

/** Sizes of the contract are binary (D42, D98). */
const MIB = 2 ** 20;
/** Five attempts have four waits between them (§6). */
const DELAYS_MAX = 4;
/** More requests in a minute than anything serves: no limit. */
const REQUESTS_MAX = 1_000_000_000;

const whole = z.string().regex(/^\d+$/, 'must be a whole number').transform(Number);
const atLeast = (min: number, max: number) => whole.pipe(z.number().min(min).max(max));
const seconds = atLeast(1, 10 * 365 * 86_400);
const url = (protocols: readonly string[]) =>
  z.string().refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''), `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
const list = z.string().transform((text) => text.split(',').map((part) => part.trim()).filter((part) => part !== ''));
const cidrs = list.refine((parts) => parts.every(isCidr), 'must be addresses or CIDR ranges separated by commas, such as 10.0.0.0/8,::1/128');

const delays = list.refine((parts) => parts.length <= DELAYS_MAX && parts.every((part) => seconds.safeParse(part).success), `must be at most ${DELAYS_MAX} numbers of seconds, separated by commas, such as 60,300,900,3600`).transform((parts) => parts.map(Number));

const servers = list.refine((parts) => parts.every(isServer), 'must be addresses with or without a port, separated by commas, such as 10.0.0.2:53,[fd00::2]:53');

function isServer(text: string): boolean {
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? '') === (bracketed === undefined ? 4 : 6) && Number(port) <= 65_535;
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/**
 * Every setting there is, by its environment variable: what it means and its default. A service picks those it needs,
 * and `docs/configuration.md` is generated from here.
 */
export const SETTINGS = {
  PORT: atLeast(0, 65_535).default(8080).describe('Port on which the api listens. 0 takes any free port.'),
  PUBLIC_URL: url(['http:', 'https:']).refine((text) => !/\/v1\/?$/.test(text), 'must not end in /v1; the service appends it').optional().describe('Address under which clients reach the service, without `/v1`; upload and download links start with it. Default: `http://127.0.0.1:PORT`.'),
  FILES_PUBLIC_URL: url(['http:', 'https:']).refine((text) => URL.parse(text)?.pathname === '/', 'must be a host without a path').optional().describe('Host of their own for upload and download links, so that files of clients never lie on the origin of the service; its proxy passes `/files/` on to the api. Without effect when `S3_BUCKET` is set. Default: that of `PUBLIC_URL`.'),
  DATA_DIR: z.string().min(1).default('.data').describe('Folder for everything that the standalone edition keeps, and for stored files.'),
  DISK_FREE_MIN_BYTES: atLeast(0, 2 ** 50).optional().describe('Room that stored files leave free on the disk of `DATA_DIR`, in bytes. With less of it files and new jobs are answered 503, so that the log and the read models on the same disk go on. Default: 2 GiB, or a tenth of the disk where that is less.'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('How much is logged.'),
  HEALTH_PORT: atLeast(1, 65_535).optional().describe('Port on which a service other than the api answers `GET /healthz`: 200 while it is connected to NATS. For containers, each of which has ports of its own; the standalone edition does not use it. Default: none.'),
  NATS_URL: url(['nats:', 'tls:']).optional().describe('NATS server (2.14 or later, JetStream). When it is set, `npm start` starts no NATS server of its own.'),
  NATS_SERVER_BIN: z.string().min(1).optional().describe('Program that `npm start` uses as its own NATS server. Default: the first new enough one in the PATH or in `.tools/`.'),
  NATS_REPLICAS: atLeast(1, 5).default(1).describe('Copies that JetStream keeps of every stream: 1 on one server, 3 on a cluster.'),
  NATS_MONITOR_URL: url(['http:', 'https:']).optional().describe('Monitoring address of the NATS server; used to check that it syncs every write to disk.'),
  DURABILITY_CHECK: z.enum(['warn', 'refuse']).default('refuse').describe('What to do when the NATS server acknowledges before it syncs to disk, or cannot be asked. The standalone edition warns.'),
  DATABASE_URL: url(['postgres:', 'postgresql:']).optional().describe('Postgres 15 or later for the read models. When it is set, `npm start` starts no Postgres of its own.'),
  MASTER_KEY: z.base64().refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64').optional().describe('Key under which all other keys are wrapped: 32 bytes in base64, such as `openssl rand -base64 32` prints. The standalone edition generates one into the data folder. Losing it loses everything clients typed.'),
  S3_BUCKET: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens').optional().describe('Bucket of an S3 store for all files. When it is set, files are not stored in `DATA_DIR` and clients reach them at the store itself.'),
  S3_REGION: z.string().min(1).optional().describe('Region of the bucket, which every signature names; most stores other than AWS take `us-east-1`.'),
  S3_ENDPOINT: url(['http:', 'https:']).optional().describe('Address of the S3 store. Default: that of AWS in the region.'),
  S3_PUBLIC_ENDPOINT: url(['http:', 'https:']).optional().describe('Address of the S3 store as clients reach it, when it is another one; upload and download links are signed for it.'),
  S3_ACCESS_KEY_ID: z.string().min(1).refine((text) => !text.startsWith('ASIA'), 'must not belong to temporary credentials: the links that they sign end with them').optional().describe('Access key for the S3 store. It must not be temporary.'),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Secret of the access key.'),
  S3_FORCE_PATH_STYLE: z.enum(['true', 'false']).transform((text) => text === 'true').optional().describe('`true` names the bucket in the path instead of the host, as most stores other than AWS need it. Default: `false`.'),
  UPLOAD_URL_TTL_SECONDS: seconds.default(3600).describe('How long a single upload URL works (§4.5).'),
  UPLOAD_WINDOW_SECONDS: seconds.default(7200).describe('After this time a job whose file was never uploaded expires (§3).'),
  PART_URL_TTL_SECONDS: seconds.default(900).describe('How long the URL of one part of a multipart upload works (§8); never longer than the upload window.'),
  HOLD_RELEASE_SECONDS: seconds.default(120).describe('Credits that are held for a job which is not created within this time are released; the api has half of it to create the job.'),
  IDEMPOTENCY_TTL_SECONDS: seconds.default(86_400).describe('How long an Idempotency-Key is remembered (§8).'),
  ACTIVE_JOB_UPLOAD_GRACE_SECONDS: seconds.default(3600).describe('After this time a job whose file was not uploaded does not count as active any more for the cap of free organizations (§8).'),
  RESULT_TTL_SECONDS: seconds.default(86_400).describe('How long a result is kept (§3).'),
  CLEAN_AGAIN_SECONDS: seconds.default(7200).describe('A job that ended is cleaned once more after this time, for files that were still being written when it ended. Longer than any upload or conversion.'),
  MAX_INPUT_BYTES: atLeast(1, 2 ** 40).default(1024 * MIB).describe('Largest input file (§8).'),
  SINGLE_UPLOAD_MAX_BYTES: atLeast(1, 2 ** 40).default(100 * MIB).describe('Largest file of one single upload (§8).'),
  IMPORTER_SLOTS: atLeast(1, 1000).default(100).describe('Files that one importer fetches from URLs at once. Each takes up to `MAX_INPUT_BYTES` of disk meanwhile. An organization gets no more places than are free.'),
  CONVERTER_SLOTS: atLeast(1, 256).default(2).describe('Images that one converter converts at once.'),
  CONVERTER_OFFICE_SLOTS: atLeast(1, 64).default(2).describe('Documents, spreadsheets, presentations and PDFs that one converter converts at once; each place has an office suite of its own.'),
  CONVERTER_MEDIA_SLOTS: atLeast(1, 64).default(1).describe('Recordings and films that one converter converts at once.'),
  CONVERTER_ISOLATION: z.enum(['strict', 'shared']).default('strict').describe('`strict` ends an office suite after each document; `shared` is faster and lets it convert further documents of the same organization, never those of another.'),
  CONVERTER_SANDBOX: z.enum(['require', 'limits', 'off']).default('require').describe('`require` uses bubblewrap and refuses to start where it does not work or lets a program reach the network or foreign files; `limits` only bounds time, memory and files, for a container of its own that keeps the network away; `off` confines nothing. The last two are warned of at every start.'),
  CONVERSION_TIMEOUT_SECONDS: atLeast(1, 86_400).default(300).describe('Wall-clock limit of one conversion of an image or a document.'),
  CONVERSION_MEDIA_TIMEOUT_SECONDS: atLeast(1, 86_400).default(3600).describe('The same for a recording or a film.'),
  RATE_LIMIT_CREATE_FREE: atLeast(1, REQUESTS_MAX).default(30).describe('Times that one key of a free-tier organization may ask to create a job in a calendar minute (§8).'),
  RATE_LIMIT_CREATE_ACTIVE: atLeast(1, REQUESTS_MAX).default(120).describe('The same for a key of an organization with an active plan (§8).'),
  RATE_LIMIT_OTHER: atLeast(1, REQUESTS_MAX).default(300).describe('All other requests of one key in a calendar minute (§8).'),
  IP_FAILURE_LIMIT: atLeast(1, REQUESTS_MAX).default(30).describe('Requests without a valid key in a calendar minute after which an address (IPv6: its /64) is shut out until the minute ends (§8).'),
  CONNECTIONS_PER_ADDRESS_MAX: atLeast(1, 1_000_000).default(2000).describe('Connections that one address (IPv6: its /64) may have open to one api process. Trusted proxies and this machine itself have no limit of their own.'),
  TRUSTED_PROXIES: cidrs.refine((parts) => parts.every((part) => !/\/0+$/.test(part)), 'must not name every address there is').default([]).describe('Proxies (addresses or CIDR ranges) whose `X-Forwarded-For` is believed. Without it everybody behind a proxy has its address, and shares one limit of failures.'),
  OUTBOUND_ALLOWED_ADDRESSES: cidrs.default([]).describe('CIDR ranges excepted from the rule that outbound requests go to public addresses only. Each one opens that network to your clients.'),
  OUTBOUND_CA_FILE: z.string().min(1).optional().describe('File with further certificate authorities (PEM) for outbound requests.'),
  OUTBOUND_DNS_SERVERS: servers.default([]).describe('DNS servers that are asked for the hosts of outbound requests. Default: those of the system.'),
  WEBHOOK_ROTATION_OVERLAP_SECONDS: seconds.default(86_400).describe('How long the old secret of a webhook endpoint signs along after `admin webhook rotate-secret` (§6).'),
  WEBHOOK_RETRY_DELAYS_SECONDS: delays.default([60, 300, 900, 3600]).describe('Waits of a delivery after its first, second, third and fourth failure, separated by commas (§6). Fewer waits are fewer attempts.'),
  WEBHOOK_TIMEOUT_SECONDS: atLeast(1, 60).default(10).describe('A receiver of a webhook has to answer within this time, in which its host is also looked up and connected (§6).'),
  WEBHOOK_DISABLE_AFTER_SECONDS: seconds.default(432_000).describe('A webhook endpoint whose deliveries have failed for so long, without one success in between, is disabled at the next failure (§6).'),
  WEBHOOK_SLOTS: atLeast(1, 10_000).default(1000).describe('Webhooks that one notifier sends at once.'),
  PRICING_URL: url(['http:', 'https:']).optional().describe('Page named in `pricing_url` of 402 answers. Default: `PUBLIC_URL/v1/operations`, which lists the price of every conversion.'),
} as const satisfies Record<string, z.ZodType>;

export type SettingName = keyof typeof SETTINGS;
/** Parsed values of some settings. */
export type Settings<Name extends SettingName> = { readonly [N in Name]: z.infer<(typeof SETTINGS)[N]> };

/** Settings that belong together: when one of `all` is set, every one of `required` has to be. */
export const GROUPS: readonly { readonly all: readonly SettingName[]; readonly required: readonly SettingName[] }[] = [
  {
    all: ['S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY', 'S3_FORCE_PATH_STYLE'],
    required: ['S3_BUCKET', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  },
];
