/** Pixels of one frame: a little more than 8K. Larger ones take gigabytes of memory to encode. */
export const FRAME_PIXELS_MAX = 40_000_000;

/** Longest part of a recording that is converted, seconds: six hours, twice the longest films. */
export const SECONDS_MAX = 6 * 3600;

/** Longest animation that becomes a film, seconds: each of its pictures may say that it is shown for eleven minutes. */
export const ANIMATION_SECONDS_MAX = 600;

/** Pixels of all frames of an animation together: its palette is made from all of them in memory, four bytes each. */
export const ANIMATION_PIXELS_MAX = 100_000_000;

/** Largest result, bytes: twice the largest source. */
export const RESULT_BYTES_MAX = 2 * 1024 ** 3;

/** Threads of each decoder, filter and encoder; more make one film hold up everything else on the machine. */
export const THREADS = 2;

/** Memory of one conversion, bytes: the frames that an encoder of an 8K film keeps. */
const MEMORY_BYTES_MAX = 3 * 1024 ** 3;

/** What one process may use; a result that reaches its limit is broken off by ffmpeg first, which is noticed. */
export const LIMITS = { memoryBytesMax: MEMORY_BYTES_MAX, fileBytesMax: RESULT_BYTES_MAX + 64 * 1024 ** 2 } as const;

/** Decoder, filter and encoder each with its threads: the wall clock ends a conversion long before the processor limit. */
export const BUSY_THREADS = 4 * THREADS;
