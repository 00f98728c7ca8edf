import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { hashOf } from '../shared/events/envelope.ts';
import { hasAgedOut } from '../shared/nats/aged-out.ts';
import { toTransient } from '../shared/nats/transient.ts';

/** Wait for an answer of the server, in ms; it takes one or two, and who asks holds a transaction open. */
const ANSWER_MS_MAX = 2_000;

/** A place in the log that was read. */
export type LogPlace = { readonly stream: string; readonly position: number; readonly eventHash: string | undefined };

/** What the stream is now: when it was created, and its first and last position. */
export type StreamState = { readonly created: string; readonly firstPosition: number; readonly lastPosition: number };

/** Position of the last event that can be read; 0 when there is none, because none was stored or all have aged out. */
export function readableEnd({ firstPosition, lastPosition }: StreamState): number {
  return firstPosition > lastPosition ? 0 : lastPosition;
}

/** Looks at the log through its leader. */
export type LogCheck = {
  /** State of a stream; throws `TransientError`. */
  readonly readState: (stream: string) => Promise<StreamState>;
  /**
   * True when the event at this place is still the one that was read, or has aged out since. False when an old store was
   * put back, so that what was read is missing or another event lies there (D96). Throws `TransientError` when the log is
   * away.
   */
  readonly stillHolds: (place: LogPlace) => Promise<boolean>;
  /** True when a position lies before the first that a stream has left, and the stream keeps its events for a time only. Throws `TransientError`. */
  readonly hasAgedOut: (stream: string, position: number) => Promise<boolean>;
};

/** A check over this connection. */
export async function openLogCheck(nc: NatsConnection): Promise<LogCheck> {
  const manager = await jetstreamManager(nc, { checkAPI: false, timeout: ANSWER_MS_MAX });
  return {
    readState: async (stream) => readStreamState(manager, stream),
    stillHolds: (place) => stillHolds(manager, place),
    hasAgedOut: (stream, position) => hasAgedOut(manager, stream, position),
  };
}

async function stillHolds(manager: JetStreamManager, place: LogPlace): Promise<boolean> {
  if (place.position === 0) return true;
  const hash = await readHash(manager, place);
  return hash === undefined ? hasAgedOut(manager, place.stream, place.position) : hash === place.eventHash;
}

async function readStreamState(manager: JetStreamManager, stream: string): Promise<StreamState> {
  try {
    const { created, state } = await manager.streams.info(stream);
    return { created, firstPosition: state.first_seq, lastPosition: state.last_seq };
  } catch (error) {
    throw toTransient(error);
  }
}

async function readHash(manager: JetStreamManager, place: LogPlace): Promise<string | undefined> {
  try {
    const message = await manager.streams.getMessage(place.stream, { seq: place.position });
    return message === null ? undefined : hashOf(message.data);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.NoMessageFound) return undefined;
    throw toTransient(error);
  }
}
