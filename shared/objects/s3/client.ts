import { S3Client } from '@aws-sdk/client-s3';

/** Where the bucket is and how to speak to it. */
export type S3Options = {
  readonly bucket: string;
  readonly region: string;
  /** Undefined for AWS itself. */
  readonly endpoint: string | undefined;
  /** Under which clients reach the store, where that is another one. */
  readonly publicEndpoint: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly forcePathStyle: boolean;
};

/** A client and the bucket it is for. */
export type Bucket = { readonly client: S3Client; readonly name: string };

/** How long a connection may take to come about, in ms. */
const CONNECT_MS_MAX = 3_000;
/** How long a connection may stand still, in ms; a store that copies or puts together a large object says nothing meanwhile. */
const IDLE_MS_MAX = 60_000;
/** How long a request without a long body may take with all its tries, in ms. */
export const REQUEST_MS_MAX = 15_000;
/** How long copying or putting together a large object may take, in ms. */
export const LONG_REQUEST_MS_MAX = 120_000;
/** Tries of one request. An outage that lasts longer is for the caller to wait for. */
const TRIES_MAX = 3;
/** Connections of one process. The api and the workers have fewer requests in hand. */
const SOCKETS_MAX = 64;

/** The library would write to the console; whoever catches the error logs it. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Opens a client. Nothing is sent yet. */
export function openClient(options: S3Options): S3Client {
  return makeClient(options, options.endpoint);
}

/** A client that only signs links, for the address under which clients reach the store. */
export function openSigningClient(options: S3Options): S3Client {
  return makeClient(options, options.publicEndpoint ?? options.endpoint);
}

/** Bounds a request with a short body and answer. */
export function bounded(limitMs: number = REQUEST_MS_MAX): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(limitMs) };
}

function makeClient(options: S3Options, endpoint: string | undefined): S3Client {
  const { region, accessKeyId, secretAccessKey, forcePathStyle } = options;
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle,
    maxAttempts: TRIES_MAX,
    // The library's own checksums go into signed links as those of an empty body, and not every store takes its trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, socketTimeout: IDLE_MS_MAX, httpAgent: { maxSockets: SOCKETS_MAX }, httpsAgent: { maxSockets: SOCKETS_MAX } },
    // Otherwise a client's own setting in the environment or in a file of the machine could change what we mean.
    useArnRegion: false,
    useAccelerateEndpoint: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableMultiregionAccessPoints: true,
    logger: SILENT,
  });
}

function ignore(): void {
  // Said by whoever catches the error.
}
