/** Pixels of all frames together that are decoded or encoded: a 100-megapixel picture takes 0.4 GB of memory. */
export const PIXELS_MAX = 100_000_000;

/** Frames of an animation, and pages of a document: each costs time of its own, however small it is. */
export const FRAMES_MAX = 500;

/** Memory of one process: 100 megapixels with transparency, three times over, and what Node needs. */
const MEMORY_BYTES_MAX = 3 * 1024 ** 3;

/** Largest file that is written: 100 megapixels with transparency, uncompressed, take 0.4 GB. */
const FILE_BYTES_MAX = 1024 ** 3;

/** What one process of this engine may use. */
export const IMAGE_LIMITS = { memoryBytesMax: MEMORY_BYTES_MAX, fileBytesMax: FILE_BYTES_MAX } as const;
